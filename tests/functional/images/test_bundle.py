"""Building the bundle from the registries, once, in a cache of its own."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from stanchion.images import entry, manifest, preflight, runtime
from stanchion.images.bundle import Bundle, ensure_bundle, has_runtime
from stanchion.images.commands import images
from stanchion.images.errors import ToolFailedError, UnsupportedHostError
from stanchion.images.host import architecture
from stanchion.images.progress import Progress, Stage

pytestmark = [pytest.mark.network, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("code")
    (folder / "sample_code").mkdir()
    (folder / "sample_code/__init__.py").write_text("VERSION = 1\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        yield folder / "sample_code"


@pytest.fixture(scope="module")
def built(cache: Path, sample: Path) -> tuple[Bundle, list[Progress]]:
    seen: list[Progress] = []
    if shutil.which("patchelf") is None:
        pytest.skip("patchelf is not installed (stanchion doctor --fix)")
    try:
        return ensure_bundle(cache, seen.append, packages=["sample_code"]), seen
    except UnsupportedHostError as other_host:
        pytest.skip(str(other_host))
    except ToolFailedError as offline:
        pytest.skip(f"the registries cannot be reached: {offline}")


def test_the_download_is_announced_with_its_size_first(
    built: tuple[Bundle, list[Progress]],
) -> None:
    _, seen = built

    assert seen[0].stage is Stage.WILL_DOWNLOAD
    assert (seen[0].total_bytes or 0) > 5_000_000
    assert seen[-1].stage is Stage.DONE


def test_the_manifest_lists_every_file_with_its_digest(
    built: tuple[Bundle, list[Progress]],
) -> None:
    bundle, _ = built
    listed = manifest.decode((bundle.path / manifest.NAME).read_bytes()).files
    present = {
        path.relative_to(bundle.path).as_posix()
        for path in bundle.path.rglob("*")
        if path.is_file()
    }

    assert present == {*listed, manifest.NAME}
    assert "app/sample_code/__init__.py" in listed


def test_every_module_is_compiled_never_to_be_checked_against_its_source(
    built: tuple[Bundle, list[Progress]],
) -> None:
    bundle, _ = built
    compiled = list(bundle.path.rglob("*.pyc"))

    assert len(compiled) > 400
    # PEP 552: the second word is 1 for hash-based and unchecked.
    assert {path.read_bytes()[4:8] for path in compiled} == {b"\1\0\0\0"}


def test_it_runs_on_the_host_from_where_it_lies(built: tuple[Bundle, list[Progress]]) -> None:
    bundle, _ = built
    code = "import sys, sqlite3, asyncio, hashlib, json; print(json.dumps([sys.prefix]))"
    command = [*runtime.on_host(bundle.path, architecture()), "-c", code]

    done = subprocess.run(command, capture_output=True, timeout=30, check=True)

    assert json.loads(done.stdout) == [str(bundle.path)]


def test_the_compressed_layer_stays_below_its_bar(built: tuple[Bundle, list[Progress]]) -> None:
    bundle, _ = built
    tar = subprocess.run(["tar", "c", "-C", bundle.path, "."], capture_output=True, check=True)
    packed = subprocess.run(["gzip", "-c"], input=tar.stdout, capture_output=True, check=True)

    assert len(packed.stdout) <= 20_000_000


def test_a_stored_runtime_is_used_without_any_download(
    built: tuple[Bundle, list[Progress]], cache: Path, sample: Path
) -> None:
    before, _ = built
    (sample / "__init__.py").write_text("VERSION = 2\n")
    seen: list[Progress] = []

    after = ensure_bundle(cache, seen.append, packages=["sample_code"])

    assert has_runtime(cache)
    assert Stage.WILL_DOWNLOAD not in {step.stage for step in seen}
    assert after.digest != before.digest
    # The unchanged part is not copied: the runtime's files are shared.
    assert (after.path / "bin/python3.11").samefile(before.path / "bin/python3.11")
    (sample / "__init__.py").write_text("VERSION = 1\n")
    assert ensure_bundle(cache, packages=["sample_code"]).digest == before.digest


def test_asking_for_newer_packages_finds_the_same_runtime_when_there_are_none(
    built: tuple[Bundle, list[Progress]], cache: Path
) -> None:
    before, _ = built

    again = ensure_bundle(cache, refresh=True, packages=["sample_code"])

    assert (again.digest, again.cached) == (before.digest, True)
    assert len(list((cache / "bundle").glob("runtime-*"))) == 1


def test_a_second_build_gives_the_same_bytes(
    built: tuple[Bundle, list[Progress]], tmp_path: Path
) -> None:
    before, _ = built

    again = ensure_bundle(tmp_path, packages=["sample_code"])

    assert not again.cached
    assert again.digest == before.digest
    assert entry.load(again.path.parent) is not None


def test_the_command_prints_where_the_bundle_is(
    built: tuple[Bundle, list[Progress]], cache: Path
) -> None:
    told = CliRunner().invoke(images, ["bundle", "--cache-dir", str(cache)])
    printed = CliRunner().invoke(images, ["bundle", "--cache-dir", str(cache), "--json"])

    assert (told.exit_code, printed.exit_code) == (0, 0), told.output
    made = json.loads(printed.stdout)
    assert made["cached"] is True
    assert (Path(made["path"]) / "app/stanchion/supervisor/__init__.py").is_file()
    assert told.stdout == f"{made['path']}  sha256:{made['digest']}\n"
    assert told.stderr.startswith("bundle: building: ")


def test_once_built_neither_the_bundle_nor_its_tools_are_needed(
    built: tuple[Bundle, list[Progress]], cache: Path
) -> None:
    found = {need.id: need for need in preflight.needs(cache, sandbox="process")}

    for which in (preflight.NeedId.BUNDLE, preflight.NeedId.PATCHELF):
        assert (found[which].present, found[which].download_bytes) == (True, 0)
