"""One process at a time works on a job's folder; the kernel lets go of it however that ends."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from stanchion.protocol.refusal import refuse
from stanchion.runner.results.job_folder import JOB


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """RefusedError where another process has it."""
    descriptor = os.open(folder / JOB, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise refuse(
            "job_running",
            field="--resume",
            value=folder,
            rule="another `stanchion run` works on this job",
            remedy=f"watch it with stanchion attach {folder}, or end that process first",
        ) from None
    finally:
        os.close(descriptor)
