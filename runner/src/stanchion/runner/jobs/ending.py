"""What a job exits with. Pure.

0 all graded, 1 any withheld or not started; a code of its own only where all that failed did so for
that one reason.
"""

from collections.abc import Sequence

from stanchion.protocol.exit_codes import ExitCode
from stanchion.protocol.outcome import EndReason
from stanchion.protocol.result import AttemptResult

OWN_CODES = {EndReason.BUDGET: ExitCode.BUDGET, EndReason.REFUSED: ExitCode.REFUSED}


def exit_code(
    finals: Sequence[AttemptResult], *, not_started: int = 0, stopped: ExitCode | None = None
) -> ExitCode:
    """`stopped` is the code of whatever cancelled the job: a timeout or an interrupt.

    An attempt that was over before the cancel reached it keeps its own code.
    """
    failed = [result.outcome.reason for result in finals if result.score is None]
    if not failed and not not_started:
        return ExitCode.OK
    if stopped is not None and all(reason is EndReason.CANCELLED for reason in failed):
        return stopped
    if not not_started and len(set(failed)) == 1:
        return OWN_CODES.get(failed[0], ExitCode.FAILED)
    return ExitCode.FAILED
