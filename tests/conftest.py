"""Pieces that the tests share: the real bundle, base image, harness and sandbox runtime.

They come from the cache of the state folder (`$STANCHION_STATE`) and are fetched where they are
missing. A machine that cannot fetch one skips, saying so; in CI that is a failure (`no_skips`).
"""

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import HealthCheck, settings

from fakes.no_skips import pytest_make_collect_report, pytest_runtest_makereport  # noqa: F401 - hooks
from stanchion.images.bundle import Bundle, ensure_bundle
from stanchion.images.errors import ImagesError
from stanchion.images.harness_store import HarnessPackage, ensure_harness
from stanchion.images.host import default_cache_dir
from stanchion.images.progress import Progress
from stanchion.images.rootfs import BaseImage, ensure_base
from stanchion.images.runsc import RunscInfo, find_runsc

T = TypeVar("T")

# No assertion on time: the machines that run this are shared.
settings.register_profile("shared", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("shared")

REPOSITORY = Path(__file__).parents[1]

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell starts what it puts in the background deaf to interrupts (POSIX, 2.11), and whoever a
    # test starts would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)


def _quiet(_: Progress) -> None:
    """The tests report outcomes, not downloads."""


def required(what: str, make: Callable[[], T]) -> T:
    """The piece, or a loud skip."""
    try:
        return make()
    except ImagesError as error:
        pytest.skip(f"{what} is not here and cannot be fetched: {error}")


@pytest.fixture(scope="session")
def cache_dir() -> Path:
    """The cache of the state folder."""
    return default_cache_dir()


@pytest.fixture(scope="session")
def bundle(cache_dir: Path) -> Bundle:
    """The supervisor bundle with the code of this tree."""
    return required("the supervisor bundle", lambda: ensure_bundle(cache_dir, _quiet))


@pytest.fixture(scope="session")
def base_image(cache_dir: Path) -> BaseImage:
    """The Debian base root file system."""
    return required("the base image", lambda: ensure_base(cache_dir, "debian", _quiet))


@pytest.fixture(scope="session")
def mini_swe_agent(cache_dir: Path) -> HarnessPackage:
    """The real mini-swe-agent, on a CPython of its own."""

    def fetch() -> HarnessPackage:
        return ensure_harness(cache_dir, "mini_swe_agent", "2.4.6", _quiet)

    return required("mini-swe-agent", fetch)


@pytest.fixture(scope="session")
def opencode(cache_dir: Path) -> HarnessPackage:
    """The real OpenCode."""
    return required("OpenCode", lambda: ensure_harness(cache_dir, "opencode", "1.18.33", _quiet))


@pytest.fixture(scope="session")
def claude_code(cache_dir: Path) -> HarnessPackage:
    """The real Claude Code."""

    def fetch() -> HarnessPackage:
        return ensure_harness(cache_dir, "claude_code", "2.1.332", _quiet)

    return required("Claude Code", fetch)


@pytest.fixture(scope="session")
def codex(cache_dir: Path) -> HarnessPackage:
    """The real Codex."""
    return required("Codex", lambda: ensure_harness(cache_dir, "codex", "0.171.0", _quiet))


@pytest.fixture(scope="session")
def qwen_code(cache_dir: Path) -> HarnessPackage:
    """The real Qwen Code, with its Node."""
    return required("Qwen Code", lambda: ensure_harness(cache_dir, "qwen_code", "0.15.10", _quiet))


@pytest.fixture(scope="session")
def pi(cache_dir: Path) -> HarnessPackage:
    """The real pi, with its Node."""
    return required("pi", lambda: ensure_harness(cache_dir, "pi", "1.6.0", _quiet))


@pytest.fixture(scope="session")
def gemini_cli(cache_dir: Path) -> HarnessPackage:
    """The real Gemini CLI, with its Node."""
    return required("Gemini CLI", lambda: ensure_harness(cache_dir, "gemini_cli", "0.61.0", _quiet))


@pytest.fixture(scope="session")
def runsc() -> RunscInfo:
    """The sandbox runtime; needs root."""

    def find() -> RunscInfo:
        found = find_runsc()
        if found is None:
            raise ImagesError("runsc is not installed; `stanchion doctor --fix` installs it")
        if os.geteuid() != 0:
            raise ImagesError("sandboxes need root on this host")
        return found

    return required("runsc", find)
