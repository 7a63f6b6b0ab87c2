"""What a shim reports, in the order it does. Pure.

The socket is the shim's alone, yet its word is checked like any other input: what does not decode
is refused, never guessed.
"""

import msgspec


class _Report(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base: immutable, named arguments only, unknown fields refused."""


class Born(_Report, frozen=True, kw_only=True, tag="born"):
    """The shim's process number as the supervisor sees it, from the helper that forked it."""

    pid: int


class Checked(_Report, frozen=True, kw_only=True, tag="checked"):
    """The self-test's result; the agent's process exists and waits."""

    checks: dict[str, bool]
    harness: int
    """Its number in its own namespace."""


class Failed(_Report, frozen=True, kw_only=True, tag="failed"):
    """The shim could not isolate itself or fork."""

    call: str
    errno: int


class Started(_Report, frozen=True, kw_only=True, tag="started"):
    """The agent's program runs."""


class ExecFailed(_Report, frozen=True, kw_only=True, tag="exec_failed"):
    """The agent's program could not be executed."""

    step: str
    errno: int


class Ended(_Report, frozen=True, kw_only=True, tag="ended"):
    """The raw wait status of the agent's process, taken apart: one of the two is set."""

    exit_code: int | None = None
    signal: int | None = None


Report = Born | Checked | Failed | Started | ExecFailed | Ended

_decoder = msgspec.json.Decoder(Report)


def decode(line: bytes) -> Report:
    """One line; msgspec.MsgspecError for anything else."""
    return _decoder.decode(line)
