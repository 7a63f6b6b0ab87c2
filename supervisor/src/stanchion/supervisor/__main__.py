"""Process 1 of the sandbox: one attempt, then out."""

import time

STARTED_MONO_MS = int(time.monotonic() * 1000)
"""Before the imports: they are the larger part of the start, and count as loading."""

import asyncio  # noqa: E402 - the moment above comes first
import ctypes  # noqa: E402
import os  # noqa: E402
import sys  # noqa: E402
import traceback  # noqa: E402

from stanchion.harness_adapters import registry  # noqa: E402
from stanchion.supervisor.control import EnrolError  # noqa: E402
from stanchion.supervisor.launch_files import UnreadableLaunchError  # noqa: E402
from stanchion.supervisor.run import Story  # noqa: E402

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
    return await Story(find_adapter=registry.adapter_of, started_mono_ms=STARTED_MONO_MS).run()


if __name__ == "__main__":
    main()
