import pytest

from fakes.clock import FakeClock
from stanchion.protocol.events import Event, Stage, StageChanged, StageState
from stanchion.protocol.refusal import refuse
from stanchion.supervisor.stages import stage


def test_a_stage_says_when_it_began_and_how_long_it_took() -> None:
    said: list[Event] = []
    clock = FakeClock()
    with stage(Stage.GATE, said.append, clock):
        clock.advance(70)
    assert said == [
        StageChanged(stage=Stage.GATE, state=StageState.STARTED),
        StageChanged(stage=Stage.GATE, state=StageState.COMPLETE, duration_ms=70),
    ]


def test_a_stage_that_fails_says_why_and_passes_it_on() -> None:
    said: list[Event] = []
    with pytest.raises(OSError, match="full"), stage(Stage.CONFIGURE, said.append, FakeClock()):
        raise OSError("full")
    assert said[-1] == StageChanged(
        stage=Stage.CONFIGURE, state=StageState.FAILED, duration_ms=0, detail="OSError: full"
    )


def test_a_refusal_is_told_in_its_own_words() -> None:
    said: list[Event] = []
    error = refuse("x", field="f", value=1, rule="must be 2", remedy="Change it")
    with pytest.raises(type(error)), stage(Stage.GATE, said.append, FakeClock()):
        raise error
    last = said[-1]
    assert isinstance(last, StageChanged)
    assert last.detail == "f = '1': must be 2. Change it"


def test_a_stage_may_have_begun_before_it_could_be_told() -> None:
    said: list[Event] = []
    clock = FakeClock()
    began_ms = clock.mono_ms()
    clock.advance(300)
    with stage(Stage.LOAD, said.append, clock, started_mono_ms=began_ms):
        clock.advance(20)
    assert said[-1] == StageChanged(stage=Stage.LOAD, state=StageState.COMPLETE, duration_ms=320)
