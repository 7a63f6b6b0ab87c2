"""What the scripted provider does in a cell, as its own file says it. Pure."""

from collections.abc import Mapping

from stanchion.runner.harnesses.cells import Scenario

ANSWER = """\
version = 1
[defaults]
gap_ms = 0
[[turn]]
reasoning = "Nothing is to be done here, so a word is enough of an answer."
text = "All is done, and there is nothing else to say."
"""
SCRIPTS: Mapping[Scenario, tuple[str, ...]] = {
    Scenario.PLAIN: (ANSWER,),
    Scenario.AGAIN: (
        f'{ANSWER}fault = {{ kind = "cut", after = 2, times = 1 }}\n',
        f'{ANSWER}fault = {{ kind = "error_event", after = 1, times = 1 }}\n',
        f'{ANSWER}fault = {{ kind = "length", times = 1 }}\n',
    ),
    Scenario.FALLBACK: (f'{ANSWER}fault = {{ kind = "status", status = 404, times = 1 }}\n',),
    Scenario.LENGTH: (f'{ANSWER}fault = {{ kind = "length", times = 1 }}\n',),
}
"""By scenario; of several the first one that makes the harness ask again."""
