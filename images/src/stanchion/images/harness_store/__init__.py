"""Coding-agent harnesses on this machine: which ones are pinned, and their files."""

from stanchion.images.harness_store.locks import Archive, Lock, Release, Runtime, Source, lock
from stanchion.images.harness_store.store import (
    BUILT_IN,
    HarnessPackage,
    ensure_harness,
    has_harness,
    stored,
)

__all__ = [
    "BUILT_IN",
    "Archive",
    "HarnessPackage",
    "Lock",
    "Release",
    "Runtime",
    "Source",
    "ensure_harness",
    "has_harness",
    "lock",
    "stored",
]
