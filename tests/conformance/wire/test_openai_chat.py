"""Each recorded trap of OpenAI-compatible providers, cut three ways: the record is the same."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from stanchion.broker.plane.dialects.openai_chat import READER
from stanchion.broker.plane.response_reader import ResponseReader, form_of
from stanchion.protocol.exchange import Answered
from stanchion.protocol.usage import Usage

FIXTURES = sorted((Path(__file__).parent / "openai_chat").glob("*.toml"))
USAGE = Usage.__struct_fields__
ALWAYS = ("result", "error_class")
"""Compared in every fixture; an absent line means null. Other fields only where they are named."""


def pieces(body: bytes, cut: str) -> list[bytes]:
    if cut == "whole":
        return [body]
    if cut == "bytes":
        return [body[i : i + 1] for i in range(len(body))]
    return body.splitlines(keepends=True)


def read(fixture: dict[str, Any], cut: str) -> Answered:
    reader = ResponseReader(
        READER,
        status=fixture["status"],
        form=form_of(fixture["content_type"]),
        output_limit=128_000,
    )
    for piece in pieces(fixture["body"].encode(), cut):
        reader.saw(piece)
    return reader.answered(complete=not fixture["cut"])


@pytest.mark.parametrize("cut", ["whole", "bytes", "lines"])
@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.stem)
def test_the_record_is_as_the_source_says(path: Path, cut: str) -> None:
    fixture = tomllib.loads(path.read_text(encoding="utf-8"))
    expected = fixture["expected"]
    answered = read(fixture, cut)
    usage = answered.usage or Usage()
    assert {name: getattr(usage, name) for name in USAGE} == {
        name: expected.get(name) for name in USAGE
    }
    named = {*expected, *ALWAYS} - set(USAGE)
    assert {name: getattr(answered, name) for name in named} == {
        name: expected.get(name) for name in named
    }


def test_every_fixture_names_its_source() -> None:
    assert len(FIXTURES) >= 20
    for path in FIXTURES:
        assert tomllib.loads(path.read_text(encoding="utf-8"))["source"], path
