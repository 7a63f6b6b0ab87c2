from stanchion.broker.clock import mono_ms, wall_ms


def test_both_are_whole_milliseconds() -> None:
    assert isinstance(mono_ms(), int)
    assert mono_ms() <= mono_ms()
    assert wall_ms() > 1_700_000_000_000
