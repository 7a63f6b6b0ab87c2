"""The public models of ATIF, which are not ours: what they take is an ATIF document."""

import os
from types import ModuleType

import msgspec
import pytest

from stanchion.runner.trajectory.atif import Trajectory


def models() -> ModuleType:
    """The package `atif`, or a loud skip where it is not installed."""
    try:
        import atif
    except ImportError:
        if os.environ.get("STANCHION_TESTS_REQUIRE_ALL"):
            raise
        pytest.skip("the package atif is not installed: make setup")
    return atif


def validated(document: Trajectory) -> dict[str, object]:
    """The document as others read it; ValidationError where it is none of the format."""
    text = msgspec.json.encode(document)
    models().Trajectory.model_validate_json(text)
    read: dict[str, object] = msgspec.json.decode(text)
    assert read["schema_version"] == "ATIF-v1.8"
    return read
