"""What of an audit's JSON is read."""

import msgspec
from tests.unit.runner.smoke.smokes import audited

from stanchion.runner.smoke.audited import Audited


def test_what_a_later_audit_adds_is_passed_over_and_what_an_earlier_one_lacks_is_unknown() -> None:
    known = msgspec.to_builtins(audited())
    later = msgspec.json.encode({**known, "more": 1, "facts": {**known["facts"], "more": [2]}})
    found = msgspec.json.decode(later, type=Audited)
    assert found == audited()
    assert found.facts is not None
    assert found.facts.completed == 2

    del known["facts"]["answers"], known["facts"]["reasoning"]
    earlier = msgspec.convert(known, Audited).facts
    assert earlier is not None
    assert (earlier.completed, earlier.answers.served) == (0, ())
