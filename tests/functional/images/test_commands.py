import json
from pathlib import Path
from subprocess import run
from sys import executable

from click.testing import CliRunner

from stanchion.images.commands import images


def test_help_lists_the_pieces() -> None:
    done = CliRunner().invoke(images, ["--help"])

    assert done.exit_code == 0
    for name in ("bundle", "base", "harness"):
        assert name in done.output


def test_a_refusal_is_one_sentence_and_exit_1(tmp_path: Path) -> None:
    done = CliRunner().invoke(images, ["harness", "other@1", "--cache-dir", str(tmp_path)])

    assert done.exit_code == 1
    assert done.stderr == (
        'stanchion images: no harness "other" is pinned; '
        "the pinned ones are claude_code, opencode\n"
    )
    assert done.stdout == ""


def test_json_prints_one_document_even_for_a_refusal(tmp_path: Path) -> None:
    command = ["harness", "other@1", "--cache-dir", str(tmp_path), "--json"]
    done = CliRunner().invoke(images, command)

    assert done.exit_code == 1
    assert "no harness" in json.loads(done.stdout)["error"]
    assert done.stderr == ""


def test_a_harness_without_a_version_is_a_usage_error() -> None:
    done = CliRunner().invoke(images, ["harness", "opencode"])

    assert done.exit_code == 2
    assert "NAME@VERSION" in done.stderr


def test_loading_the_commands_imports_none_of_the_work() -> None:
    code = (
        "import sys; import stanchion.images.commands; "
        "sys.exit(sorted(set(sys.modules) & {'msgspec', 'subprocess', 'tarfile'}) or 0)"
    )
    done = run([executable, "-c", code], capture_output=True, timeout=30, check=False)

    assert done.returncode == 0, done.stderr
