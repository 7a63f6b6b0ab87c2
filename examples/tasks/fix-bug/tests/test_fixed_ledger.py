"""The whole contract of the package, of which the visible tests show a part."""

import sys
from itertools import pairwise

import pytest

WORK = "/work"


@pytest.fixture(autouse=True)
def _package_importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path, WORK])


@pytest.mark.parametrize("people", range(1, 8))
@pytest.mark.parametrize("total", [0, 1, 2, 99, 100, 101, 1000, 99_999, 10**17 + 3])
def test_shares_add_up_and_the_first_pay_the_odd_cents(total: int, people: int) -> None:
    from ledger.shares import split_evenly

    names = [f"person {number}" for number in range(people)]
    shares = split_evenly(total, names)
    assert list(shares) == names
    assert sum(shares.values()) == total
    assert all(first - second in {0, 1} for first, second in pairwise(shares.values()))
    assert max(shares.values()) - min(shares.values()) in {0, 1}
    assert all(type(share) is int for share in shares.values())


def test_a_bill_needs_people() -> None:
    from ledger.shares import split_evenly

    with pytest.raises(ValueError, match="at least one person"):
        split_evenly(100, [])


def test_balances_of_many_bills_cancel_out() -> None:
    from ledger.balance import Expense, balances

    trip = [
        Expense(paid_by="ada", total=1000, shared_by=["ada", "ben", "cleo"]),
        Expense(paid_by="ben", total=101, shared_by=["cleo", "ben"]),
        Expense(paid_by="cleo", total=7, shared_by=["ada", "ben", "cleo"]),
    ]
    assert balances(trip) == {"ada": 663, "ben": -284, "cleo": -379}
