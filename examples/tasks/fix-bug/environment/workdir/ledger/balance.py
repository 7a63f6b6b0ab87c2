"""Netting many bills against each other."""

from dataclasses import dataclass

from ledger.shares import split_evenly


@dataclass(frozen=True)
class Expense:
    """A bill that one person paid for several."""

    paid_by: str
    total: int
    shared_by: list[str]


def balances(expenses: list[Expense]) -> dict[str, int]:
    """What each person gets back (positive) or still owes (negative)."""
    result: dict[str, int] = {}
    for expense in expenses:
        result[expense.paid_by] = result.get(expense.paid_by, 0) + expense.total
        for person, share in split_evenly(expense.total, expense.shared_by).items():
            result[person] = result.get(person, 0) - share
    return result
