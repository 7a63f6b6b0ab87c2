"""Debian packages and sources, as this host's own apt knows them.

Everything is asked of apt: which mirror, which proxy, which version. No host is named here, no
source of another vendor is used, and nothing is installed; installing is `runsc` and `preflight`.
"""

import os
import re
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from stanchion.images import tools, tree
from stanchion.images.errors import ImagesError, IntegrityError, ToolFailedError
from stanchion.images.host import DEBIAN_CODENAME

KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
BACKPORTS = f"{DEBIAN_CODENAME}-backports"
SOURCES_OF_BASE = {
    ("Debian", DEBIAN_CODENAME),
    ("Debian", f"{DEBIAN_CODENAME}-updates"),
    ("Debian-Security", f"{DEBIAN_CODENAME}-security"),
}
INDEX_FORMAT = "$(LABEL)|$(CODENAME)|$(REPO_URI)|$(RELEASE)|$(COMPONENT)"


@dataclass(frozen=True, slots=True)
class Deb:
    """One package file that apt would download."""

    file_name: str
    size_bytes: int
    algorithm: str
    checksum: str


@dataclass(frozen=True, slots=True)
class Source:
    """One configured archive component; `label` tells Debian from everyone else."""

    label: str
    codename: str
    uri: str
    release: str
    component: str

    def as_line(self) -> str:
        """In the form of a one-line source."""
        return f"deb [signed-by={KEYRING}] {self.uri} {self.release} {self.component}"


def candidates(packages: Sequence[str]) -> list[Deb]:
    """The files apt would download for these packages, without downloading them."""
    command = ["apt-get", "download", "--print-uris", *packages]
    try:
        printed = tools.run(command, doing="asking apt for package versions")
    except ToolFailedError as unknown:
        if os.geteuid() != 0:
            raise ImagesError(
                f"apt does not know the packages for the bundle ({unknown}); "
                "run `sudo apt-get update` and try again",
                fix="sudo apt-get update",
            ) from unknown
        update()
        printed = tools.run(command, doing="asking apt for package versions")
    return sorted(parse_uris(printed), key=lambda deb: deb.file_name)


def parse_uris(printed: str) -> list[Deb]:
    """Read the output of `apt-get download --print-uris`."""
    found = []
    for line in printed.splitlines():
        fields = shlex.split(line) if line.startswith("'") else []
        if len(fields) < 4 or ":" not in fields[3]:
            continue
        algorithm, _, checksum = fields[3].partition(":")
        algorithm = algorithm.lower().removesuffix("sum")
        found.append(Deb(fields[1], int(fields[2]), algorithm, checksum))
    return found


def download(packages: Sequence[str], expected: Iterable[Deb], folder: Path) -> list[Path]:
    """Download exactly the expected files and check each one's digest."""
    # _apt cannot write into a private folder; as root the download is ours to check, below.
    as_us = ["-o", "APT::Sandbox::User=root"] if os.geteuid() == 0 else []
    tools.run(["apt-get", "-q", *as_us, "download", *packages], doing="apt-get", folder=folder)
    downloaded = sorted(folder.glob("*.deb"))
    return [matching_file(deb, downloaded) for deb in expected]


def matching_file(deb: Deb, downloaded: Iterable[Path]) -> Path:
    """The downloaded file that is what apt announced; its name may be spelled otherwise."""
    for path in downloaded:
        if path.stat().st_size == deb.size_bytes and _digest(path, deb) == deb.checksum.lower():
            return path
    raise IntegrityError(
        f"apt announced {deb.file_name} with {deb.algorithm} {deb.checksum[:16]}… and "
        "downloaded something else; run `apt-get update` and try again",
        fix="apt-get update",
    )


def update() -> None:
    """Refresh apt's lists (root)."""
    tools.run(["apt-get", "update", "-q"], doing="apt-get update")


def sources() -> list[Source]:
    """Every archive component this host's apt is set up for."""
    asked = ["apt-get", "indextargets", "--format", INDEX_FORMAT, "Created-By: Packages"]
    return parse_sources(tools.run(asked, doing="asking apt for its sources"))


def parse_sources(printed: str) -> list[Source]:
    """Read the answer of `apt-get indextargets` in INDEX_FORMAT, each source once."""
    lines = dict.fromkeys(line for line in printed.splitlines() if line.count("|") == 4)
    return [Source(*line.split("|")) for line in lines]


def debian_sources(configured: Iterable[Source]) -> list[Source]:
    """Those that are Debian's own for the base release, updates and security."""
    return [
        source
        for source in configured
        if (source.label, source.codename) in SOURCES_OF_BASE and source.component == "main"
    ]


def transport_options() -> list[str]:
    """The host's settings for reaching its sources (proxies, certificates, retries)."""
    return parse_transport(tools.run(["apt-config", "dump"], doing="asking apt for its settings"))


def parse_transport(dumped: str) -> list[str]:
    """Pick the transport settings out of `apt-config dump`."""
    wanted = re.compile(r'^Acquire::(https?::.+|Retries) ".+";$', re.IGNORECASE)
    return [line for line in dumped.splitlines() if wanted.match(line)]


def _digest(path: Path, deb: Deb) -> str:
    return tree.file_digest(path, deb.algorithm).hex()
