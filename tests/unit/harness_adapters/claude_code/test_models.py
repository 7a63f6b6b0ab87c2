import pytest

from stanchion.harness_adapters.claude_code.models import CAP, family

# As seen on the wire, asked with 128000 and `max`.
SEEN = {
    "claude-opus-4-5": 64_000,
    "claude-opus-4-5-custom": 64_000,
    "claude-opus-4-1": 32_000,
    "claude-opus-4": 32_000,
    "claude-opus-4-20250514": 32_000,
    "claude-sonnet-4-6": CAP,
    "claude-sonnet-4-5": 64_000,
    "claude-sonnet-4": 64_000,
    "claude-haiku-4-5": 64_000,
    "claude-3-7-sonnet": 64_000,
    "claude-3-5-sonnet": 8_192,
    "claude-3-5-haiku": 8_192,
    "claude-3-opus": 4_096,
}


@pytest.mark.parametrize(("model", "cap"), SEEN.items())
def test_old_families_are_told_by_their_words(model: str, cap: int) -> None:
    found = family(model)
    assert found is not None
    assert found.cap == cap


@pytest.mark.parametrize(
    "model",
    ["claude-opus-5", "claude-opus-4-8", "claude-opus-4-7", "claude-opus-4-6", "claude-opus-4-10",
     "claude-sonnet-5", "claude-fable-5", "claude-haiku-5", "x-opus-9", "future-9"],
)  # fmt: skip
def test_others_are_of_no_family(model: str) -> None:
    assert family(model) is None
