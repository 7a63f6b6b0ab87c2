from pathlib import Path

import pytest

from stanchion.protocol.refusal import RefusedError
from stanchion.runner.launching.command_option import check_folder, read_command

EXAMPLE = Path(__file__).parents[4] / "examples" / "own-program" / "agent.toml"


def test_the_example_is_read_with_the_folder_beside_it() -> None:
    own = read_command(EXAMPLE)
    assert own.folder == str(EXAMPLE.parent / "program")
    assert (own.command.name, own.command.version) == ("tiny-agent", "1")


@pytest.mark.parametrize(
    ("text", "field"),
    [
        (EXAMPLE.read_text().replace('program = "program"', 'program = "elsewhere"'), "program"),
        ("name = ", "agent.toml"),
        ("\xff", "command"),
    ],
)
def test_what_cannot_be_used_is_refused_by_name(tmp_path: Path, text: str, field: str) -> None:
    file = tmp_path / "agent.toml"
    file.write_bytes(text.encode("latin-1"))
    with pytest.raises(RefusedError) as refused:
        read_command(file)
    assert refused.value.refusal.id == "command_unusable"
    assert field in refused.value.refusal.field


def test_a_folder_with_keys_or_state_in_it_is_never_shown_to_an_agent(tmp_path: Path) -> None:
    (tmp_path / "work/keys").mkdir(parents=True)
    (tmp_path / "work/program").mkdir()
    private = (str(tmp_path / "work/keys"), str(tmp_path / "elsewhere"))
    check_folder(tmp_path / "work/program", private)
    with pytest.raises(RefusedError) as refused:
        check_folder(tmp_path / "work", private)
    assert "keys" in refused.value.refusal.sentence()
