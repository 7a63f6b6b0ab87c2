import pytest

from stanchion.supervisor.sensors.pace import MOST_MISSED, Pace, Step, StoreRhythm

RHYTHM = StoreRhythm(stamp_s=0.125, idle_s=0.5, told_s=1.0, backstop_s=5.0)


@pytest.fixture
def pace() -> Pace:
    return Pace(RHYTHM)


def idle(pace: Pace, *, followed: bool) -> Step:
    return pace.step(told=False, changed=False, followed=followed)


@pytest.mark.parametrize(("told", "changed"), [(True, False), (False, True), (True, True)])
@pytest.mark.parametrize("followed", [True, False])
def test_a_change_is_looked_at_twice(pace: Pace, told: bool, changed: bool, followed: bool) -> None:
    """The second time for a commit that showed only after its last event."""
    first = pace.step(told=told, changed=changed, followed=followed)
    assert first == Step(True, 0.125, light=False, eager=True)
    second = idle(pace, followed=followed)
    assert (second.look, second.eager) == (True, False)
    assert not idle(pace, followed=followed).look


def test_without_being_told_looks_at_the_stamp_get_rarer_and_a_change_makes_them_frequent(
    pace: Pace,
) -> None:
    assert [idle(pace, followed=False).rest_s for _ in range(4)] == [0.25, 0.5, 0.5, 0.5]
    assert pace.step(told=False, changed=True, followed=False).rest_s == 0.125
    assert not idle(pace, followed=False).light


def test_where_changes_are_told_the_rest_is_long_and_light(pace: Pace) -> None:
    assert idle(pace, followed=True) == Step(False, 1.0, light=True)
    assert pace.step(told=True, changed=True, followed=True) == Step(
        True, 0.125, light=False, eager=True
    )
    assert idle(pace, followed=True) == Step(True, 1.0, light=True)


@pytest.mark.parametrize(("followed", "steps"), [(True, 5), (False, 11)])
def test_the_log_is_looked_at_now_and_then_anyway(pace: Pace, followed: bool, steps: int) -> None:
    looks = [idle(pace, followed=followed).look for _ in range(steps + 2)]
    assert looks == [False] * steps + [True, False]


def test_where_changes_show_that_were_not_told_looking_takes_over(pace: Pace) -> None:
    for _ in range(MOST_MISSED):
        assert pace.trusts
        idle(pace, followed=True)
        pace.step(told=False, changed=True, followed=True)
        idle(pace, followed=True)
    assert not pace.trusts
    assert idle(pace, followed=True) == Step(False, 0.5, light=False)


def test_a_telling_that_comes_a_moment_later_is_none_missed(pace: Pace) -> None:
    for _ in range(5):
        idle(pace, followed=True)
        pace.step(told=False, changed=True, followed=True)
        pace.step(told=True, changed=False, followed=True)
    assert pace.missed == 0


def test_a_change_in_the_middle_of_writing_is_none_missed(pace: Pace) -> None:
    pace.step(told=True, changed=True, followed=True)
    for _ in range(5):
        pace.step(told=False, changed=True, followed=True)
    assert pace.missed == 0


def test_what_changed_before_the_following_began_is_none_missed(pace: Pace) -> None:
    for _ in range(5):
        idle(pace, followed=False)
        pace.step(told=False, changed=True, followed=True)
        idle(pace, followed=True)
    assert pace.missed == 0


def test_what_nobody_follows_cannot_be_missed(pace: Pace) -> None:
    for _ in range(5):
        pace.step(told=False, changed=True, followed=False)
        idle(pace, followed=False)
    assert pace.missed == 0
