"""An environment without the SDKs' own variables, and one stage for all tests."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.sdk.stage import Stage, built
from fakes.certificates import make_certificate

HERE = Path(__file__).parent
THEIR_WARNINGS = (
    "ignore:Inheritance class AiohttpClientSession:DeprecationWarning",
    "ignore:.* is not a valid FinishReason:UserWarning",
)
"""google-genai's, about its own code and about a word that it does not know."""
PREFIXES = ("OPENAI_", "ANTHROPIC_", "GOOGLE_", "GEMINI_", "HTTP_", "HTTPS_", "ALL_", "NO_PROXY")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What an SDK warns of is no error of ours."""
    for item in items:
        if HERE in item.path.parents:
            for text in THEIR_WARNINGS:
                item.add_marker(pytest.mark.filterwarnings(text))


@pytest.fixture(scope="session")
def one_authority(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate that nobody outside has."""
    return make_certificate(tmp_path_factory.mktemp("authority"))


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch, one_authority: Path) -> None:
    """Addresses, keys and proxies are taken from there.

    All is plain http here, and each client reads the file of trusted authorities when it is made:
    with all of the system's, that is most of a test's time.
    """
    monkeypatch.setenv("SSL_CERT_FILE", str(one_authority))
    for name in list(os.environ):
        if name.upper().startswith(PREFIXES):
            monkeypatch.delenv(name)


@pytest.fixture(scope="session")
def stage() -> Iterator[Stage]:
    """In a folder with a short path: Unix socket paths are short."""
    with tempfile.TemporaryDirectory(prefix="st") as folder, built(Path(folder)) as stage:
        yield stage
