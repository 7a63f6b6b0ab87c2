import pytest

from stanchion.rehearsal.script import parse_script
from stanchion.runner.harnesses.cells import Scenario
from stanchion.runner.harnesses.scripts import SCRIPTS


@pytest.mark.parametrize("scenario", list(Scenario))
def test_every_scenario_has_scripts_that_can_be_played(scenario: Scenario) -> None:
    played = [parse_script(text, source=scenario) for text in SCRIPTS[scenario]]

    assert len(played) >= 1
    for script in played:
        (turn,) = script.turn
        assert (turn.fault is None) == (scenario is Scenario.PLAIN)
        if turn.fault is not None:
            assert turn.fault.times == 1, "a harness that asks again must find an answer"
