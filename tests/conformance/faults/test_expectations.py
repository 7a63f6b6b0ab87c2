"""What holds the expectations still."""

from conformance.faults.expectations import accepted, problems

OLD = {"a": {"reason": "completed"}, "b": {"reason": "oom"}}
NEW = {"a": {"reason": "completed"}, "b": {"reason": "harness_exit"}}
LOG = "- fault `b`: the limit is the sandbox's, not the harness's\n"


def test_the_same_is_no_problem() -> None:
    assert problems(OLD, OLD, {}, "") == []


def test_a_change_a_removal_and_a_new_row_are_told() -> None:
    assert problems(OLD, NEW, {}, LOG) == ["b: has another expectation"]
    assert problems(OLD, {"a": OLD["a"]}, {}, LOG) == ["b: was removed"]
    assert problems({}, {"a": OLD["a"]}, {}, LOG) == ["a: not in expected.json yet"]


def test_a_change_is_accepted_with_its_line_only_and_the_line_must_stay() -> None:
    assert accepted(OLD, NEW, {}, "")[1] == ["b"]
    kept, unnamed = accepted(OLD, NEW, {}, LOG)
    assert unnamed == []
    assert problems(NEW, NEW, kept, LOG) == []
    assert len(problems(NEW, NEW, kept, "")) == 1
