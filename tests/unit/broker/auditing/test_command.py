import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from fakes.receipts import KEY, OTHER_KEY, RUN, closed, ending, honest
from stanchion.broker.auditing.command import audit


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """The state folder of the machine whose broker signed."""
    (tmp_path / "state" / "broker").mkdir(parents=True)
    (tmp_path / "state" / "broker" / "signing.pub").write_text(KEY.public_key + "\n")
    return tmp_path / "state"


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """A result directory with one honest attempt."""
    (tmp_path / "out" / "attempts" / "fix-bug__1").mkdir(parents=True)
    bundle(tmp_path / "out").write_bytes(closed())
    return tmp_path / "out"


def bundle(out: Path) -> Path:
    return out / "attempts" / "fix-bug__1" / "receipts.bundle"


def run(*arguments: object, state: Path | None = None, **env: str | None) -> Result:
    words = [str(argument) for argument in arguments]
    if state is not None:
        words += ["--state-dir", str(state)]
    return CliRunner().invoke(audit, words, env=env, catch_exceptions=False)


def test_a_result_directory_of_this_machine_is_verified(out: Path, state: Path) -> None:
    result = run(out, state=state)

    assert result.exit_code == 0
    assert result.output.startswith(f"VERIFIED  {bundle(out)}\n")


def test_the_state_folder_may_come_from_the_environment(out: Path, state: Path) -> None:
    assert run(out, STANCHION_STATE=str(state)).exit_code == 0


def test_a_key_file_takes_the_place_of_the_own_key(out: Path, state: Path, tmp_path: Path) -> None:
    theirs = tmp_path / "their.pub"
    theirs.write_text(OTHER_KEY.public_key + "\n")

    assert run(out, "--key", theirs, state=state).exit_code == 3
    bundle(out).write_bytes(closed(key=OTHER_KEY))
    assert run(out, "--key", theirs, state=state).exit_code == 0
    assert run(out, state=state).exit_code == 3
    own = state / "broker" / "signing.pub"
    assert run(out, "--key", theirs, "--key", own, state=state).exit_code == 0


def test_without_any_key_the_signer_is_unknown(out: Path, tmp_path: Path) -> None:
    result = run(out, state=tmp_path / "nothing")

    assert result.exit_code == 3
    assert result.output.startswith("SIGNER UNKNOWN")
    assert "pass the broker's signing.pub as --key" in result.output


def test_a_key_beside_the_bundle_is_not_trusted(out: Path, tmp_path: Path) -> None:
    for folder in (out, bundle(out).parent):
        (folder / "signing.pub").write_text(KEY.public_key + "\n")

    assert run(out, state=tmp_path / "nothing").exit_code == 3


def test_each_fault_has_its_exit_code(out: Path, state: Path) -> None:
    assert run(out, "--require", "effort=max", state=state).exit_code == 0
    assert run(out, "--require", "effort=low", state=state).exit_code == 1
    bundle(out).write_bytes(honest().bundle())
    assert run(out, state=state).exit_code == 3
    bundle(out).write_bytes(closed()[:-1])
    assert run(out, state=state).exit_code == 4
    bundle(out).unlink()
    assert run(out, state=state).exit_code == 3


def test_a_forged_result_beside_honest_receipts_is_tampered(out: Path, state: Path) -> None:
    told = {"run": RUN, "attempt": 1, "outcome": {"reason": "completed"}, "score": 0.0}
    (bundle(out).parent / "result.json").write_text(json.dumps(told))

    result = run(out, state=state)
    assert result.exit_code == 4
    assert "result.json beside it says" in result.output


def test_the_worst_of_several_decides_and_each_is_told_once(out: Path, state: Path) -> None:
    second = out / "attempts" / "fix-bug__2"
    second.mkdir()
    (second / "receipts.bundle").write_bytes(honest().close(**ending("oom", score=None)))

    result = run(out, bundle(out), "--require", "outcome=completed", state=state)
    assert result.exit_code == 1
    assert result.output.count("VERIFIED") == 1
    assert result.output.count("REQUIREMENT FAILED") == 1


def test_json_is_one_document_and_nothing_else(out: Path, state: Path) -> None:
    (out / "attempts" / "gone__1").mkdir()

    result = run(out, "--json", "--require", "effort=max", state=state)
    verified, gone = json.loads(result.stdout)
    assert result.exit_code == 3
    assert (verified["verdict"], verified["exit_code"], verified["run"]) == ("verified", 0, RUN)
    assert verified["facts"]["output_limit"] == {
        "requested": 128000,
        "source": "default",
        "written": 128000,
        "on_the_wire": [{"value": 128000, "requests": 3}],
    }
    assert verified["requirements"] == [
        {"key": "effort", "value": "max", "held": True, "why": None}
    ]
    assert (gone["verdict"], gone["facts"], gone["run"]) == ("incomplete", None, None)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "Missing argument"),
        (["nowhere"], "does not exist"),
        (["OUT", "--require", "efort=max"], "the keys are effort, harness"),
        (["OUT", "--key", "nowhere"], "does not exist"),
        (["OUT", "--key", "BUNDLE"], "holds no public key"),
        (["STATE"], "no receipts.bundle below it"),
    ],
)
def test_wrong_use_is_exit_2_and_one_sentence(
    out: Path, state: Path, arguments: list[str], said: str
) -> None:
    places = {"OUT": out, "BUNDLE": bundle(out), "STATE": state}
    result = run(*(places.get(word, word) for word in arguments), state=state)

    assert result.exit_code == 2
    assert said in result.stderr
    assert "Traceback" not in result.output
    assert result.stdout == ""


def test_no_colour_where_nobody_wants_it(out: Path, state: Path) -> None:
    green = "\x1b[1;32m"

    assert "\x1b[" not in run(out, state=state).output
    assert green in run(out, state=state, FORCE_COLOR="1").output
    assert green not in run(out, state=state, FORCE_COLOR="1", NO_COLOR="1").output


def test_a_table_has_one_row_an_attempt(out: Path, state: Path) -> None:
    (out / "attempts" / "fix-bug__2").mkdir()
    result = run(out, "--csv", state=state)

    heading, first, second = result.output.splitlines()
    assert heading.startswith("run,attempt,verdict,")
    assert first.startswith(f"{RUN},1,verified,")
    assert second.startswith(",,incomplete,")
    assert result.exit_code == 3


def test_two_documents_at_once_are_refused(out: Path, state: Path) -> None:
    result = run(out, "--csv", "--json", state=state)
    assert (result.exit_code, result.output.count("exclude each other")) == (2, 1)
