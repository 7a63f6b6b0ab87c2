from pathlib import Path

import pytest

from stanchion.images import rootfs
from stanchion.images.errors import ImagesError


def test_the_bootstrap_names_sources_and_transport_but_no_archive_of_its_own() -> None:
    command = rootfs.bootstrap_command(
        Path("/target"),
        Path("/sources.list"),
        debian_architecture="amd64",
        transport=['Acquire::Retries "3";'],
    )

    assert command[:3] == ["setpriv", "--pdeathsig", "KILL"]
    assert command[-3:] == ["bookworm", "/target", "/sources.list"]
    assert '--aptopt=Acquire::Retries "3";' in command
    assert "--include=python3,python3-pytest,git,procps" in command
    assert "://" not in " ".join(command)


def test_cleaning_takes_away_every_trace_of_the_host(tmp_path: Path) -> None:
    traces = [
        "etc/resolv.conf",
        "etc/hostname",
        "etc/machine-id",
        "etc/apt/apt.conf.d/99mmdebstrap",
        "etc/apt/sources.list.d/0000src.list",
        "var/log/apt/history.log",
        "var/lib/apt/lists/archive_Packages",
        "var/cache/apt/pkgcache.bin",
        "usr/lib/python3/__pycache__/x.pyc",
        "dev/null",
    ]
    for name in [*traces, "usr/bin/env"]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "run").mkdir()
    (tmp_path / "run/lock").symlink_to("nowhere")
    (tmp_path / "tmp").mkdir()

    rootfs.clean(tmp_path)

    files = [p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("*") if not p.is_dir()]
    assert sorted(files) == ["tmp/.keep", "usr/bin/env"]


def test_mount_points_exist_so_that_runsc_never_has_to_make_one(tmp_path: Path) -> None:
    (tmp_path / "tmp").mkdir()

    rootfs.clean(tmp_path)

    for point in ("opt/stanchion", "opt/stanchion-harness", "run/stanchion"):
        assert (tmp_path / point).is_dir()


def test_an_unknown_base_is_refused_and_the_known_one_named(tmp_path: Path) -> None:
    with pytest.raises(ImagesError, match='no base named "alpine"; the only one is "debian"'):
        rootfs.ensure_base(tmp_path, "alpine")


def test_an_empty_cache_has_no_base(tmp_path: Path) -> None:
    assert not rootfs.has_base(tmp_path)
