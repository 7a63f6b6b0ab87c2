"""Waivers name a property and say why."""

import pytest

from stanchion.protocol.refusal import RefusedError
from stanchion.runner.smoke.judging import Property
from stanchion.runner.smoke.waiving import parse_waivers


def test_the_reason_is_kept_as_it_was_given() -> None:
    assert parse_waivers(["effort=the server has none", "no_length_stop= a=b "]) == {
        Property.EFFORT: "the server has none",
        Property.LENGTH: "a=b",
    }


@pytest.mark.parametrize("text", ["speed=x", "effort", "effort=  ", "=x"])
def test_a_waiver_without_a_property_or_a_reason_is_refused(text: str) -> None:
    with pytest.raises(RefusedError, match=r"a property is one of|says why"):
        parse_waivers([text])


def test_one_property_has_one_reason() -> None:
    with pytest.raises(RefusedError, match="twice"):
        parse_waivers(["effort=a", "effort=b"])
