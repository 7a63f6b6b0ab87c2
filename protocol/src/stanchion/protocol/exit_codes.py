"""Exit codes of the `stanchion` command; fixed for ever."""

from enum import IntEnum


class ExitCode(IntEnum):
    """What a finished command says to its caller."""

    OK = 0
    """Done; for `run`: every attempt was graded, whatever its score."""
    FAILED = 1
    """The run or check failed; for `run`: a score was withheld or an attempt did not start."""
    USAGE = 2
    """Wrong arguments or configuration."""
    INCOMPLETE = 3
    """Evidence incomplete, or signed by a key that is not trusted."""
    TAMPERED = 4
    """Evidence does not verify."""
    BROKER_UNREACHABLE = 5
    BUDGET = 6
    REFUSED = 78
    """Refused by the gate: the harness was not started."""
    TIMEOUT = 124
    """The command's own --timeout."""
    INTERRUPTED = 130
