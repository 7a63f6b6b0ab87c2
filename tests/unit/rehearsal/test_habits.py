import pytest

from stanchion.rehearsal.dialects.building import roles_after_first_user
from stanchion.rehearsal.habits import fitted, offered


@pytest.mark.parametrize(
    ("name", "tools", "found"),
    [
        ("bash", ("Bash", "bash"), "bash"),
        ("bash", ("read", "Bash"), "Bash"),
        ("bash", ("read_file", "run_shell_command"), "run_shell_command"),
        ("bash", ("exec_command", "write_stdin"), "exec_command"),
        ("Run_Shell_Command", ("bash",), "bash"),
        ("read", ("run_shell_command", "bash"), None),
    ],
)
def test_a_shell_is_found_under_each_name_and_nothing_else_is_guessed(
    name: str, tools: tuple[str, ...], found: str | None
) -> None:
    assert offered(name, tools) == found


@pytest.mark.parametrize(
    ("name", "tool", "fits"),
    [
        ("bash", "exec_command", {"cmd": "ls"}),
        ("exec_command", "exec_command", {"command": "ls", "description": "List"}),
        ("bash", "run_shell_command", {"command": "ls", "description": "List"}),
    ],
)
def test_a_shell_gets_the_arguments_that_it_takes(
    name: str, tool: str, fits: dict[str, object]
) -> None:
    assert fitted(name, tool, {"command": "ls", "description": "List"}) == fits
    assert fitted("read", "read", {"path": "/x"}) == {"path": "/x"}


@pytest.mark.parametrize("as_parts", [True, False])
def test_what_a_harness_made_the_model_say_takes_no_turn(as_parts: bool) -> None:
    words = "Got it. Thanks for the context!"
    thanks = [{"type": "text", "text": words}] if as_parts else words
    messages = [
        {"role": "user", "content": "context"},
        {"role": "assistant", "content": thanks},
        {"role": "user", "content": words},
        {"role": "assistant", "content": "Got it."},
    ]
    assert roles_after_first_user(messages) == ["user", "user", "assistant"]
