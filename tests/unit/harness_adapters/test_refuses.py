"""What an adapter declares that it refuses is what its check refuses, and nothing else is."""

import itertools

import pytest

from stanchion.harness_adapters.base import Settings
from stanchion.harness_adapters.registry import NAMES, adapter
from stanchion.protocol.dialects import EFFORT_WORDS, Dialect
from stanchion.protocol.refusal import RefusedError
from stanchion.runner.sandbox.oci import harness_place

LIMITS = (8_000, 64_000, 128_000, 200_000)
SPOKEN = [
    (name, dialect)
    for name in NAMES
    if adapter(name).asks_model
    for dialect in adapter(name).dialects
]


def refused(name: str, dialect: Dialect, effort: str, limit: int) -> str | None:
    settings = Settings(
        model="future-9",
        base_url="http://127.0.0.1:1",
        dialect=dialect,
        output_limit=limit,
        context=None,
        effort=effort,
        instruction="Do it.\n",
        home="/root",
        workdir="/work",
        package_dir=harness_place(name, adapter(name).versions[-1]),
        env={},
    )
    try:
        adapter(name).check(settings)
    except RefusedError as error:
        return error.refusal.id
    return None


@pytest.mark.parametrize(("name", "dialect"), SPOKEN)
def test_each_effort_and_limit_is_taken_or_refused_as_declared(name: str, dialect: Dialect) -> None:
    declared = adapter(name).refuses
    for effort, limit in itertools.product(EFFORT_WORDS[dialect], LIMITS):
        expected = next((r.id for r in declared if r.covers(dialect, effort, limit)), None)
        assert refused(name, dialect, effort, limit) == expected, (effort, limit)
