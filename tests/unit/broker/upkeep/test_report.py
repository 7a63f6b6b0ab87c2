import pytest

from stanchion.broker.plane.dialects.base import ProviderError
from stanchion.broker.upkeep.report import (
    AccountCheck,
    answer_problem,
    answer_words,
    unreachable,
)
from stanchion.protocol.dialects import Dialect


def check(credential: str = "file:k") -> AccountCheck:
    return AccountCheck(
        name="evals/anthropic",
        api=Dialect.ANTHROPIC_MESSAGES,
        base_url="https://api.example.com",
        tls=True,
        egress_proxy=None,
        credential=credential,
        mode=None,
        problem=None,
    )


def error(words: str | None = None, kind: str | None = None) -> ProviderError:
    return ProviderError(words=words, kind=kind)


@pytest.mark.parametrize(
    ("status", "said", "problem"),
    [
        (200, error(), None),
        (404, error("not found"), None),
        (405, error(), None),
        (429, error("slow down", "rate_limit_error"), None),
        (429, error("pay", "insufficient_quota"), "key_refused"),
        (401, error("invalid x-api-key", "authentication_error"), "key_refused"),
        (403, error(), "key_refused"),
        (402, error("credit balance"), "key_refused"),
        (302, error(), "provider_answer"),
        (500, error("oops", "api_error"), "provider_answer"),
        (400, error("bad version"), "provider_answer"),
    ],
)
def test_only_the_provider_says_that_a_key_is_refused(
    status: int, said: ProviderError, problem: str | None
) -> None:
    found = answer_problem(check(), status, said, "req_1")
    assert (None if found is None else found.id) == problem


@pytest.mark.parametrize(
    ("credential", "command", "words"),
    [
        ("file:k", "stanchion key set evals/anthropic", "Store"),
        ("env:A_KEY", None, "Export A_KEY"),
        ("none", None, "credential"),
    ],
)
def test_a_refused_key_is_quoted_with_its_fix(
    credential: str, command: str | None, words: str
) -> None:
    said = error("invalid x-api-key", "authentication_error")
    problem = answer_problem(check(credential), 401, said, "req_1")
    assert problem is not None
    assert problem.rule == (
        "anthropic refused the key of evals/anthropic "
        "(401 authentication_error: invalid x-api-key, req_1)"
    )
    assert problem.next == command
    assert words in problem.remedy


def test_words_for_people() -> None:
    assert answer_words(200, error(), 3) == "3 models"
    assert "no list" in answer_words(200, error(), None)
    assert "not tried" in answer_words(404, error("nope"), None)
    assert answer_words(500, error(), None) == "without a word"
    assert "resolve" in unreachable(check(), "does not resolve").rule
