"""Reads a recorded response through a dialect's reader, cut into pieces one way or another."""

import tomllib
from pathlib import Path
from typing import Any

from stanchion.broker.plane.dialects.base import DialectReader
from stanchion.broker.plane.response_reader import ResponseReader, form_of
from stanchion.protocol.exchange import Answered
from stanchion.protocol.usage import Usage

CUTS = ("whole", "bytes", "lines")
USAGE = Usage.__struct_fields__
ALWAYS = ("result", "error_class")
"""Compared in every fixture; an absent line means null. Other fields only where they are named."""


def fixtures(dialect: str) -> list[Path]:
    return sorted((Path(__file__).parent / dialect).glob("*.toml"))


def load(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def check(path: Path, reader: DialectReader, cut: str) -> None:
    """The record is what the fixture expects."""
    fixture = load(path)
    expected = fixture["expected"]
    answered = _read(fixture, reader, cut)
    usage = answered.usage or Usage()
    assert {name: getattr(usage, name) for name in USAGE} == {
        name: expected.get(name) for name in USAGE
    }
    named = {*expected, *ALWAYS} - set(USAGE)
    assert {name: getattr(answered, name) for name in named} == {
        name: expected.get(name) for name in named
    }


def _read(fixture: dict[str, Any], reader: DialectReader, cut: str) -> Answered:
    tap = ResponseReader(
        reader,
        status=fixture["status"],
        form=form_of(fixture["content_type"]),
        output_limit=128_000,
    )
    for piece in _pieces(fixture["body"].encode(), cut):
        tap.saw(piece)
    return tap.answered(complete=not fixture["cut"])


def _pieces(body: bytes, cut: str) -> list[bytes]:
    if cut == "whole":
        return [body]
    if cut == "bytes":
        return [body[i : i + 1] for i in range(len(body))]
    return body.splitlines(keepends=True)
