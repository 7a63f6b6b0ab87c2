from stanchion.rehearsal.faults.kinds import CutFault
from stanchion.rehearsal.faults.tally import Tally

TWICE = CutFault(times=2)


def test_a_counted_fault_meets_the_first_requests_of_its_turn_and_conversation() -> None:
    tally = Tally()
    met = [tally.due(TWICE, turn=1, conversation="a") for _ in range(4)]
    assert met == [TWICE, TWICE, None, None]


def test_another_conversation_or_turn_counts_for_itself() -> None:
    tally = Tally()
    once = CutFault(times=1)
    assert tally.due(once, turn=1, conversation="a") == once
    assert tally.due(once, turn=1, conversation="b") == once
    assert tally.due(once, turn=2, conversation="a") == once
    assert tally.due(once, turn=1, conversation="a") is None


def test_without_a_number_every_request_meets_it_and_nothing_is_kept() -> None:
    tally = Tally()
    always = CutFault()
    assert [tally.due(always, turn=0, conversation="a") for _ in range(3)] == [always] * 3
    assert tally == Tally()


def test_no_fault_is_never_due() -> None:
    assert Tally().due(None, turn=0, conversation="a") is None
