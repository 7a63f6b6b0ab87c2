import hashlib

import pytest

from stanchion.broker.plane.dialects.chat_request import read_request


def test_the_words_of_a_request_are_read_with_their_fields() -> None:
    raw = b"{}"
    body: dict[str, object] = {
        "model": "m",
        "max_completion_tokens": 5,
        "max_tokens": None,
        "reasoning": {"effort": "high", "x": 1},
        "stream": True,
        "x_unknown": None,
    }
    asked = read_request(body, raw)
    assert (asked.output_limit, asked.output_limit_field) == (5, "max_completion_tokens")
    assert (asked.effort, asked.effort_field) == ("high", "reasoning.effort")
    assert asked.fields == tuple(sorted(body))
    assert asked.body_sha256 == hashlib.sha256(raw).hexdigest()
    assert asked.body_bytes == 2


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"model": 5, "max_tokens": None, "reasoning_effort": 3, "stream": "yes", "reasoning": "x"},
        {"max_tokens": 1.5, "reasoning": {"effort": ["high"]}},
        {"max_tokens": True, "thinking": 3, "enable_thinking": 1, "thinking_budget": "9"},
    ],
)
def test_what_is_absent_or_of_another_type_is_unknown(body: dict[str, object]) -> None:
    asked = read_request(body, b"")
    assert (asked.model, asked.output_limit, asked.effort, asked.stream) == (None,) * 4
    assert (asked.thinking, asked.thinking_budget) == (None, None)


def test_two_fields_that_disagree_say_nothing_and_both_are_kept() -> None:
    """Which of them a vendor obeys, nobody knows (vllm-project/vllm#35705 sends both)."""
    body = {
        "max_completion_tokens": 128_000,
        "max_tokens": 10,
        "reasoning_effort": 1,
        "reasoning": {"effort": 2},
    }
    asked = read_request(body, b"")
    assert (asked.output_limit, asked.effort) == (None, None)
    assert asked.malformed == {
        "output_limit": "max_completion_tokens 128000, max_tokens 10",
        "effort": "reasoning_effort 1, reasoning.effort 2",
    }


def test_two_fields_that_agree_are_one() -> None:
    same = read_request({"max_completion_tokens": 10, "max_tokens": 10}, b"")
    assert (same.output_limit, same.output_limit_field) == (10, "max_completion_tokens")


def test_what_cannot_be_a_setting_is_kept_apart_from_what_is_absent() -> None:
    body = {"model": 5, "max_tokens": "4k", "reasoning": "high", "stream": 1, "thinking": 3}
    assert read_request(body, b"").malformed == {
        "model": "5",
        "output_limit": "a text of 2 characters",
        "effort": "a text of 4 characters",
        "stream": "1",
        "thinking": "3",
    }
    assert read_request({}, b"").malformed == {}


@pytest.mark.parametrize(
    ("body", "thinking", "budget"),
    [
        ({"thinking": {"type": "enabled"}}, "enabled", None),
        ({"thinking": {"type": "enabled", "budget_tokens": 5}}, "enabled", 5),
        ({"enable_thinking": True, "thinking_budget": 6}, "enabled", 6),
        ({"enable_thinking": False}, "disabled", None),
        ({"chat_template_kwargs": {"enable_thinking": False}}, "disabled", None),
        ({"chat_template_kwargs": {"thinking": True}}, "enabled", None),
        ({"enable_thinking": True, "chat_template_kwargs": {"thinking": False}}, None, None),
        ({"reasoning": {"max_tokens": 7}}, None, 7),
        ({"reasoning": {"max_tokens": 7}, "thinking_budget": 8}, None, None),
    ],
)
def test_each_vendor_has_a_switch_and_a_budget_of_its_own(
    body: dict[str, object], thinking: str | None, budget: int | None
) -> None:
    asked = read_request(body, b"")
    assert (asked.thinking, asked.thinking_budget) == (thinking, budget)
