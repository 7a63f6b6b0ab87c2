"""Waiting for the end of a process that is not a child of this one, without polling (pidfd)."""

import asyncio
import os

from stanchion.runner.host.process_identity import is_gone


async def until_gone(pid: int, identity: str) -> None:
    """Until the process that had this identity has ended; at once where it has already."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        # Looked at through a descriptor that is held: the pid cannot be another's meanwhile.
        if is_gone(pid, identity):
            return
        ended = asyncio.Event()
        loop = asyncio.get_running_loop()
        loop.add_reader(descriptor, ended.set)
        try:
            await ended.wait()
        finally:
            loop.remove_reader(descriptor)
    finally:
        os.close(descriptor)
