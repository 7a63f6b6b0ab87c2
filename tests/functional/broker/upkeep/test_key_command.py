"""`key set` takes no key on its command line."""

from click.testing import CliRunner

from stanchion.broker.upkeep.key_command import key


def test_a_key_as_an_argument_is_a_usage_error() -> None:
    done = CliRunner().invoke(key, ["set", "evals/lab", "sk-CANARY"])
    assert done.exit_code == 2
