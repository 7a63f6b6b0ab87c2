import msgspec
import pytest

from stanchion.rehearsal.faults.kinds import KINDS, AnyFault, CutFault, Fault, kind_of

NEEDED: dict[str, dict[str, object]] = {
    "status": {"status": 429},
    "slow_headers": {"wait_s": 1},
    "redirect": {"location": "/x"},
}


def read(**fields: object) -> AnyFault:
    fault: AnyFault = msgspec.convert(fields, Fault)
    return fault


def test_the_kinds_are_the_promised_ones() -> None:
    assert set(KINDS) == {
        *("status", "error_event", "cut", "stall", "drip", "slow_headers", "missing_usage"),
        *("length", "redirect", "key_echo", "garbage", "no_finish", "unknown_finish"),
    }


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_is_read_by_its_name_and_may_be_counted(kind: str) -> None:
    fault = read(kind=kind, times=3, **NEEDED.get(kind, {}))
    assert type(fault) is KINDS[kind]
    assert (kind_of(fault), fault.times) == (kind, 3)
    assert read(kind=kind, **NEEDED.get(kind, {})).times is None


@pytest.mark.parametrize(
    "fields",
    [
        {"kind": "boom"},
        {"kind": "cut", "times": 0},
        {"kind": "cut", "after": -1},
        {"kind": "cut", "how": "kick"},
        {"kind": "cut", "stall_s": 1},
        {"kind": "drip", "interval_s": 0},
        {"kind": "redirect", "location": "/", "status": 304},
        {"kind": "redirect", "location": ""},
        {"kind": "status"},
        {"kind": "status", "status": 399},
        {"kind": "status", "status": 429, "retry_after": -1},
        {"kind": "status", "status": 429, "retry_after": 1.5},
        {"kind": "slow_headers"},
        {"kind": "unknown_finish", "word": ""},
    ],
)
def test_what_makes_no_sense_is_no_fault(fields: dict[str, object]) -> None:
    with pytest.raises(msgspec.ValidationError):
        read(**fields)


def test_a_fault_says_nothing_it_was_not_told() -> None:
    assert read(kind="cut") == CutFault(after=0, extra_bytes=0, how="fin")
