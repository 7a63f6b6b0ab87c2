import datetime as dt
from importlib import resources

import pytest

from stanchion.harness_adapters import limits
from stanchion.protocol.launch import Limit, LimitSource
from stanchion.protocol.refusal import RefusedError

KNOWN = "claude-opus-4-6"


def test_the_launch_wins_over_the_operator_over_the_document_over_the_default() -> None:
    def output(launch: int | None, operator: int | None, model: str) -> Limit:
        return limits.resolve_output(launch=launch, operator=operator, model=model)

    assert output(1, 2, KNOWN) == Limit(value=1, source=LimitSource.LAUNCH)
    assert output(None, 2, KNOWN) == Limit(value=2, source=LimitSource.OPERATOR)
    assert output(None, None, KNOWN) == Limit(value=128_000, source=LimitSource.DOCUMENTED)
    assert output(None, None, "future-9") == Limit(value=128_000, source=LimitSource.DEFAULT)


def test_an_unknown_context_window_is_none_and_never_a_guess() -> None:
    def context(launch: int | None, operator: int | None, model: str) -> Limit | None:
        return limits.resolve_context(launch=launch, operator=operator, model=model)

    assert context(400_000, 1, KNOWN) == Limit(value=400_000, source=LimitSource.LAUNCH)
    assert context(None, 300_000, KNOWN) == Limit(value=300_000, source=LimitSource.OPERATOR)
    assert context(None, None, KNOWN) == Limit(value=1_000_000, source=LimitSource.DOCUMENTED)
    assert context(None, None, "future-9") is None


@pytest.mark.parametrize("name", [f"{KNOWN}-custom", f"vendor/{KNOWN}", KNOWN.upper(), KNOWN[:-2]])
def test_a_name_that_only_resembles_a_documented_one_gets_the_default(name: str) -> None:
    limit = limits.resolve_output(launch=None, operator=None, model=name)
    assert limit.source is LimitSource.DEFAULT
    assert limits.resolve_context(launch=None, operator=None, model=name) is None


@pytest.mark.parametrize("value", [0, -1])
def test_a_limit_that_is_none_is_refused_with_its_field(value: int) -> None:
    with pytest.raises(RefusedError) as launch:
        limits.resolve_output(launch=value, operator=1, model=KNOWN)
    assert launch.value.refusal.field == "--output-limit"
    assert launch.value.refusal.id == "limit_invalid"
    with pytest.raises(RefusedError) as operator:
        limits.resolve_context(launch=None, operator=value, model=KNOWN)
    assert operator.value.refusal.field == "profiles.models.context"


def test_each_documented_maximum_is_plausible_and_cites_whose_page_it_is_and_when_read() -> None:
    entries = limits.documented()
    assert entries
    for name, entry in entries.items():
        assert name == entry.id
        assert 1_000 <= entry.output_tokens <= 1_000_000
        assert entry.context is None or entry.context > entry.output_tokens
        assert len(entry.source) > 20
        assert dt.date(2025, 1, 1) < entry.read


def test_no_model_is_documented_twice() -> None:
    text = resources.files("stanchion.harness_adapters").joinpath(limits.DATA_NAME)
    ids = [line for line in text.read_text().splitlines() if line.startswith("id = ")]
    assert len(ids) == len(set(ids)) == len(limits.documented())
