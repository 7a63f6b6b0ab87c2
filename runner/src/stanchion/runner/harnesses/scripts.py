"""What the scripted provider does in a cell, as its own file says it. Pure."""

from collections.abc import Mapping

from stanchion.runner.harnesses.cells import Scenario

SUBMIT = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
"""A harness whose only tool is a shell ends by this command."""
ANSWER = f"""\
version = 1
[defaults]
gap_ms = 0
[[turn]]
reasoning = "Nothing is to be done here, so a word is enough of an answer."
text = "All is done, and there is nothing else to say."
tool = [{{name = "bash", only_tool = true, arguments.command = "{SUBMIT}"}}]
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
