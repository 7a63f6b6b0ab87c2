"""gVisor's `runsc` on this host: which one there is, and installing one that will do.

Debian 12's main archive holds a release of 2022, so the package comes from backports, whose mirror
is taken from apt's own configuration. Releases before the oldest supported one are refused.
"""

import os
import re
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from stanchion.images import apt, tools
from stanchion.images.errors import ImagesError, UnsupportedHostError
from stanchion.images.host import DEBIAN_CODENAME, require_debian
from stanchion.images.progress import Piece, Progress, Report, Stage, ignore

OLDEST_DATE = 20240729
OLDEST_BECAUSE = (
    "older releases lack --overlay2=root:dir and --host-uds as this project uses them, "
    "and were never tried with it"
)
DOWNLOAD_SIZE_BYTES = 6_900_000
"""Measured 2026-12-01, amd64, from backports."""


@dataclass(frozen=True, slots=True)
class RunscInfo:
    """The installed runsc."""

    path: Path
    version_date: int
    """The release's date as a number, 20240729."""

    @property
    def is_supported(self) -> bool:
        """Whether this project runs sandboxes with it."""
        return self.version_date >= OLDEST_DATE


def find_runsc() -> RunscInfo | None:
    """The runsc on the command path; None where there is none."""
    found = shutil.which("runsc")
    if found is None:
        return None
    printed = tools.run([found, "--version"], doing="runsc --version", timeout_s=20)
    return RunscInfo(path=Path(found), version_date=parse_version(printed))


def parse_version(printed: str) -> int:
    """The release date in the output of `runsc --version`."""
    match = re.search(r"^runsc version \D*(?:[0-9.]+~)?(\d{8})\b", printed, re.MULTILINE)
    if match is None:
        raise ImagesError(
            f"`runsc --version` printed {printed[:60]!r}, which names no release date; "
            "install Debian's package with `stanchion doctor --fix`",
            fix="stanchion doctor --fix",
        )
    return int(match.group(1))


def require_supported(info: RunscInfo) -> RunscInfo:
    """Refuse a runsc that is too old, saying why."""
    if info.is_supported:
        return info
    raise UnsupportedHostError(
        f"{info.path} is the release of {info.version_date}, but {OLDEST_DATE} or newer is needed: "
        f"{OLDEST_BECAUSE}; run `stanchion doctor --fix`",
        fix="stanchion doctor --fix",
    )


def install_runsc(progress: Report = ignore) -> RunscInfo:
    """Install runsc from Debian's backports; one that will do is left alone."""
    present = find_runsc()
    if present is not None and present.is_supported:
        progress(Progress(Piece.RUNSC, Stage.CACHED, f"runsc {present.version_date}"))
        return present
    require_debian("the runsc installation")
    if os.geteuid() != 0:
        raise UnsupportedHostError(
            "installing runsc needs root; run `sudo stanchion doctor --fix`",
            fix="sudo stanchion doctor --fix",
        )
    progress(
        Progress(Piece.RUNSC, Stage.WILL_DOWNLOAD, "runsc from backports", DOWNLOAD_SIZE_BYTES)
    )
    _configure_backports(Path("/etc/apt/sources.list.d"))
    command = ["apt-get", "install", "-q", "-y", "--no-install-recommends"]
    tools.run(
        [*command, "-t", apt.BACKPORTS, "runsc"],
        doing="installing runsc",
        environment={"DEBIAN_FRONTEND": "noninteractive"},
    )
    installed = find_runsc()
    if installed is None:
        raise ImagesError("apt installed the runsc package, but no `runsc` is on the command path")
    progress(Progress(Piece.RUNSC, Stage.DONE, f"runsc {installed.version_date}"))
    return require_supported(installed)


def backports_source(configured: Iterable[apt.Source]) -> str | None:
    """The deb822 source to add for backports; None where it is configured already."""
    known = list(configured)
    if any(source.codename == apt.BACKPORTS for source in known):
        return None
    for source in known:
        if (source.label, source.codename) == ("Debian", DEBIAN_CODENAME):
            return (
                f"Types: deb\nURIs: {source.uri}\nSuites: {apt.BACKPORTS}\nComponents: main\n"
                f"Signed-By: {apt.KEYRING}\n"
            )
    raise ImagesError(
        f"apt knows no Debian archive for {DEBIAN_CODENAME} from which to derive backports; add "
        "one to /etc/apt/sources.list.d and run `apt-get update`",
        fix="apt-get update",
    )


def _configure_backports(folder: Path) -> None:
    # Without package lists, as on a fresh image, apt says that it has no sources at all.
    apt.update()
    if addition := backports_source(apt.sources()):
        (folder / f"{apt.BACKPORTS}.sources").write_text(addition, encoding="utf-8")
        apt.update()
