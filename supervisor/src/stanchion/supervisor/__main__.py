"""Process 1 of the sandbox: one attempt, then out."""

import asyncio
import ctypes
import os
import sys
import traceback

from stanchion.harness_adapters import registry
from stanchion.supervisor.control import EnrolError
from stanchion.supervisor.launch_files import UnreadableLaunchError
from stanchion.supervisor.run import Story

PR_SET_DUMPABLE = 4
NO_CHANNEL = 70
"""Exit code where nobody could be told how the attempt ended (EX_SOFTWARE of sysexits.h)."""

BROKEN = 1


def main() -> None:
    """Run the attempt and leave at once: no thread and no exit handler may hold the sandbox."""
    try:
        code = _attempt()
    except BaseException:  # noqa: BLE001 - a bug of ours; whatever it was, the sandbox must end
        traceback.print_exc()
        code = BROKEN
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _attempt() -> int:
    ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)  # our memory holds the lease
    try:
        delivered = asyncio.run(_story())
    except (EnrolError, UnreadableLaunchError) as error:
        sys.stderr.write(f"stanchion supervisor: {error}\n")
        return NO_CHANNEL
    return 0 if delivered else NO_CHANNEL


async def _story() -> bool:
    return await Story(find_adapter=registry.adapter).run()


if __name__ == "__main__":
    main()
