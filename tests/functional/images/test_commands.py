from subprocess import run
from sys import executable

from click.testing import CliRunner

from stanchion.images.commands import images


def test_help_lists_the_pieces() -> None:
    done = CliRunner().invoke(images, ["--help"])

    assert done.exit_code == 0
    for name in ("bundle", "base"):
        assert name in done.output


def test_loading_the_commands_imports_none_of_the_work() -> None:
    code = (
        "import sys; import stanchion.images.commands; "
        "sys.exit(sorted(set(sys.modules) & {'msgspec', 'subprocess', 'tarfile'}) or 0)"
    )
    done = run([executable, "-c", code], capture_output=True, timeout=30, check=False)

    assert done.returncode == 0, done.stderr
