import pytest
from ledger.balance import Expense, balances
from ledger.shares import split_evenly


def test_an_even_bill_is_shared_evenly() -> None:
    assert split_evenly(900, ["ada", "ben", "cleo"]) == {"ada": 300, "ben": 300, "cleo": 300}


def test_a_bill_needs_people() -> None:
    with pytest.raises(ValueError, match="at least one person"):
        split_evenly(900, [])


def test_the_payer_gets_back_what_the_others_owe() -> None:
    dinner = Expense(paid_by="ada", total=900, shared_by=["ada", "ben", "cleo"])
    assert balances([dinner]) == {"ada": 600, "ben": -300, "cleo": -300}


def test_no_cent_is_lost() -> None:
    taxi = Expense(paid_by="ben", total=1000, shared_by=["ada", "ben", "cleo"])
    assert sum(balances([taxi]).values()) == 0
