"""What `broker check` found, as its JSON document, and the verdict on a provider's answer. Pure.

A key counts as refused only where the provider says so, and as proven only by a list of models.
"""

import msgspec

from stanchion.broker.plane.dialects.base import ProviderError
from stanchion.broker.plane.dialects.failures import classify
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.exchange import ErrorClass
from stanchion.protocol.refusal import Refusal

_NO_LIST = frozenset({404, 405, 501})
_OVER_THE_KEY = {
    ErrorClass.AUTH: "refused the key of",
    ErrorClass.BILLING: "refused to bill",
    ErrorClass.QUOTA: "says that the quota is used up of",
}


class Live(msgspec.Struct, frozen=True, kw_only=True):
    """One answer of the provider."""

    request: str
    status: int | None
    """None = no answer came."""
    words: str
    """The provider's own, masked; or why none came."""
    key_proven: bool
    models: int | None = None
    request_id: str | None = None
    certificate_sha256: str | None = None
    duration_ms: int | None = None


class AccountCheck(msgspec.Struct, frozen=True, kw_only=True):
    """One account."""

    name: str
    api: Dialect
    base_url: str
    tls: bool
    egress_proxy: str | None
    credential: str
    """`env:NAME`, `file:PATH` or `none`; another text is not shown, it may be a key."""
    mode: str | None
    """Of the key file."""
    problem: Refusal | None
    live: Live | None = None

    @property
    def ok(self) -> bool:
        """Whether nothing speaks against it."""
        return self.problem is None


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """The whole check."""

    ok: bool
    config: str
    sha256: str | None
    accounts: tuple[AccountCheck, ...]


def answer_problem(
    check: AccountCheck, status: int, error: ProviderError, request_id: str | None
) -> Refusal | None:
    """What an answer to the question for models says against the account."""
    if status < 300 or status in _NO_LIST:
        return None
    provider = check.name.rpartition("/")[2]
    said = f"{status} {answer_words(status, error, None)}"
    places = ", ".join(filter(None, (said, request_id)))
    if status < 400:
        return _problem(check, "provider_answer", f"{provider} answered with a redirect ({status})")
    kind = classify(status, error, output_limit=None)
    if kind in _OVER_THE_KEY:
        return _problem(
            check, "key_refused", f"{provider} {_OVER_THE_KEY[kind]} {check.name} ({places})"
        )
    if kind is ErrorClass.RATE_LIMITED:
        return None  # only who is known is counted
    return _problem(check, "provider_answer", f"{provider} answered with {places}")


def answer_words(status: int, error: ProviderError, models: int | None) -> str:
    """A line for people."""
    if status < 300:
        return f"{models} models" if models is not None else "an answer that is no list of models"
    if status in _NO_LIST:
        return "the server has no list of models: reached, but the key was not tried"
    return ": ".join(filter(None, (error.kind or error.code, error.words))) or "without a word"


def unreachable(check: AccountCheck, why: str) -> Refusal:
    """No answer came."""
    return _problem(check, "provider_unreachable", f"{check.base_url} cannot be reached: {why}")


def _problem(check: AccountCheck, name: str, rule: str) -> Refusal:
    kind, _, place = check.credential.partition(":")
    remedy, command = "Mend base_url or the network, then check again", None
    if name == "key_refused":
        remedy, command = "Store a good key", f"stanchion key set {check.name}"
        if kind == "env":
            remedy, command = f"Export {place} with a good key, then end the broker", None
        elif kind == "none":
            remedy, command = 'Give the account a credential, as "file:keys/NAME"', None
    return Refusal(
        id=name,
        field=f"profiles.{check.name.replace('/', '.accounts.', 1)}",
        value=None,
        rule=rule,
        remedy=remedy,
        next=command,
    )
