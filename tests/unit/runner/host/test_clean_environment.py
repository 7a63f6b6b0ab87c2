"""No secret of the caller's environment goes on to keepers and sandboxes."""

from stanchion.runner.host.clean_environment import clean_environment


def test_only_what_a_program_needs_is_passed_on() -> None:
    environment = {
        "PATH": "/bin",
        "HOME": "/root",
        "LC_ALL": "C",
        "PYTHONPATH": "/x",
        "ANTHROPIC_API_KEY": "sk-1",
        "OPENAI_API_KEY": "sk-2",
        "MY_PATH": "sk-3",
    }

    assert set(clean_environment(environment)) == {"PATH", "HOME", "LC_ALL", "PYTHONPATH"}
