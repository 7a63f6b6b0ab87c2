"""Properties that somebody lets fail, by name and with a reason that is kept. Pure."""

from collections.abc import Iterable, Mapping

from stanchion.protocol.refusal import RefusedError, refuse
from stanchion.runner.smoke.judging import Property

Waivers = Mapping[Property, str]
"""The reason, by property."""


def parse_waivers(texts: Iterable[str]) -> Waivers:
    """`PROPERTY=REASON`, each property once."""
    waivers: dict[Property, str] = {}
    for text in texts:
        name, _, reason = text.partition("=")
        found = check_waiver(name.strip(), reason)
        if found in waivers:
            raise _invalid(text, f"{found} is waived twice", "give one reason")
        waivers[found] = reason.strip()
    return waivers


def check_waiver(name: str, reason: str) -> Property:
    """The property that is meant."""
    if name not in set(Property):
        raise _invalid(name, f"a property is one of {', '.join(Property)}", "name one of them")
    if not reason.strip():
        raise _invalid(name, "a waiver says why, and the reason is kept", f"write {name}=REASON")
    return Property(name)


def _invalid(value: str, rule: str, remedy: str) -> RefusedError:
    return refuse("waiver_invalid", field="--waive", value=value, rule=rule, remedy=remedy)
