from stanchion.supervisor.linger import Linger


def test_a_finished_session_may_linger_twenty_seconds() -> None:
    linger = Linger(started_ms=0)
    assert [linger.observe(finished=True, at_ms=s * 1000) for s in range(23)].index(True) == 20


def test_work_in_between_starts_the_time_again() -> None:
    linger = Linger(started_ms=0)
    for s in range(19):
        assert not linger.observe(finished=True, at_ms=s * 1000)
    assert not linger.observe(finished=False, at_ms=19_000)
    assert not linger.observe(finished=True, at_ms=20_000)
    assert not linger.observe(finished=True, at_ms=39_999 - 15_001)


def test_a_jump_of_the_clock_is_not_lingering() -> None:
    linger = Linger(started_ms=0)
    assert not linger.observe(finished=True, at_ms=1_000)
    assert not linger.observe(finished=True, at_ms=10**9)
    assert not linger.observe(finished=True, at_ms=0)
