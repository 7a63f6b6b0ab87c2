"""Decides whether an answer shows that an account itself is refused, and how that is said. Pure.

A key, a bill or a quota that is refused once is refused for every request. It must never say what
a key is, and it never names another account to use instead.
"""

from dataclasses import dataclass

from stanchion.protocol.exchange import Answered, ErrorClass
from stanchion.protocol.launch import AccountRef
from stanchion.protocol.refusal import Refusal

_WORDS = {
    ErrorClass.AUTH: "{provider} refused the key of {account}",
    ErrorClass.BILLING: "{provider} refused to bill {account}",
    ErrorClass.QUOTA: "{provider} says that the quota of {account} is used up",
}
SHOWN_WORDS = 200


@dataclass(frozen=True, slots=True)
class Trip:
    """Why nothing starts under an account, and what to do."""

    error_class: ErrorClass
    rule: str
    remedy: str

    @property
    def sentence(self) -> str:
        """Both."""
        return f"{self.rule}. {self.remedy}"

    def refusal(self, model: str) -> Refusal:
        """The answer to a launch under this account."""
        return Refusal(
            id="account_tripped",
            field="--model",
            value=model,
            rule=f"{self.rule}; nothing starts under this account",
            remedy=self.remedy,
        )


def trip_of(answered: Answered, *, profile: str, account: AccountRef) -> Trip | None:
    """The trip that an answer is; its words are masked already.

    A bare 403 without the provider's error object may be a gateway that dislikes one request.
    """
    kind = answered.error_class
    if kind is None or kind not in _WORDS:
        return None
    if answered.status not in {401, 402} and answered.error_words is None:
        return None
    name = f"{profile}/{account.name}"
    said = _WORDS[kind].format(provider=account.name, account=name)
    places = [f"{answered.status or 200} {kind}"]
    if answered.provider_request_id is not None:
        places.append(answered.provider_request_id)
    words = answered.error_words
    quoted = "" if words is None else f": {words[:SHOWN_WORDS].rstrip('. ')}"
    return Trip(
        error_class=kind,
        rule=f"{said} ({', '.join(places)}){quoted}",
        remedy=_remedy(kind, name, account.credential),
    )


def _remedy(kind: ErrorClass, name: str, credential: str) -> str:
    source, _, rest = credential.partition(":")
    again = "stanchion run --resume DIR"
    settle = "" if kind is ErrorClass.AUTH else "settle that with the provider, then "
    if source == "file":
        return f"Fix: {settle}stanchion key set {name}, then {again}"
    if source == "env":
        return f"Fix: {settle}export {rest} with a good key, stanchion broker stop, then {again}"
    return f"Fix: {settle}mend credential of {name}, stanchion broker stop, then {again}"
