"""When the account itself is refused: nothing new starts, and one sentence says what to do. Pure.

The broker's own refusal of a launch says it best; where every attempt had started before it was
known, the receipts of one that ended so say the same.
"""

from dataclasses import dataclass

import msgspec

from stanchion.protocol.exchange import Answered, ErrorClass
from stanchion.protocol.outcome import EndReason
from stanchion.protocol.refusal import Refusal
from stanchion.protocol.result import AttemptResult

TRIPPED = "account_tripped"
SUFFIX = "; nothing starts under this account"
_WORDS = {
    ErrorClass.AUTH: "{provider} refused the key of {account}",
    ErrorClass.BILLING: "{provider} refused to bill {account}",
    ErrorClass.QUOTA: "{provider} says that the quota of {account} is used up",
}


class _End(msgspec.Struct):
    """The part of an exchange's last receipt that counts here."""

    type: str
    answered: Answered | None = None


@dataclass(frozen=True, slots=True)
class Trip:
    """Why nothing new starts."""

    what: str
    fix: str
    rank: int = 1
    """How well it is known: 2 the broker's word, 1 the provider's answer, 0 what followed."""

    def or_better(self, other: "Trip | None") -> "Trip":
        """The one that is known best; of equals the first."""
        return other if other is not None and other.rank > self.rank else self


def trip_of_refusal(refusal: Refusal) -> Trip | None:
    """The broker refused a launch for its account."""
    if refusal.id != TRIPPED:
        return None
    fix = refusal.remedy.removeprefix("Fix: ")
    return Trip(what=refusal.rule.removesuffix(SUFFIX), fix=fix, rank=2)


def trip_of_result(result: AttemptResult, profile: str, bundle: bytes) -> Trip | None:
    """An attempt ended because its account was refused."""
    if result.outcome.reason is not EndReason.PROVIDER_REFUSED:
        return None
    answered = _refused_answer(bundle)
    if answered is None or answered.error_class is None:
        return None
    provider = result.model.partition("/")[0]
    account = f"{profile}/{provider}"
    said = _WORDS[answered.error_class].format(provider=provider, account=account)
    places = [f"{answered.status or 200} {answered.error_class}"]
    if answered.provider_request_id is not None:
        places.append(answered.provider_request_id)
    words = f": {answered.error_words.rstrip('. ')}" if answered.error_words else ""
    return Trip(
        what=f"{said} ({', '.join(places)}){words}",
        fix=f"stanchion key set {account}, then stanchion run --resume DIR",
        rank=0 if answered.status is None else 1,
    )


def _refused_answer(bundle: bytes) -> Answered | None:
    """The account's refusal; the provider's own answer before what followed from it here."""
    answers = [
        record.answered
        for record in map(_end_of, bundle.splitlines())
        if record is not None and record.answered is not None
    ]
    refused = [answer for answer in answers if answer.error_class in _WORDS]
    if not answers or answers[-1] not in refused:
        return None
    own = [answer for answer in refused if answer.status is not None]
    return (own or refused)[-1]


def _end_of(line: bytes) -> _End | None:
    try:
        return msgspec.json.decode(line, type=_End)
    except msgspec.DecodeError:
        return None


def trip_line(trip: Trip, *, unscored: int, not_started: int, folder: str) -> str:
    """One sentence: what the provider said, what became of the attempts, what to do."""
    ended = f"{unscored} attempt{'' if unscored == 1 else 's'} ended unscored"
    return (
        f"{trip.what}. {ended}, {not_started} not started. Fix: {trip.fix.replace('DIR', folder)}"
    )
