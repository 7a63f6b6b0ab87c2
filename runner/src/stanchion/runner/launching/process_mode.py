"""What a launch without gVisor needs of this host and of the task, checked before it is frozen.

Refuses in one sentence what cannot be had; never falls back to running without namespaces, and
never hides what the attempt will share with the host.
"""

from pathlib import Path, PurePosixPath

from stanchion.broker.client import StatePaths
from stanchion.protocol.refusal import refuse
from stanchion.runner.sandbox.process_powers import Powers, find_powers
from stanchion.runner.sandbox.process_view import SHOWN

KEYS = "keys"
"""Where a configuration keeps credential files beside it."""


def process_network(powers: Powers | None = None) -> str:
    """`none` or `host`: what the launch may truthfully say; RefusedError where nothing works."""
    powers = powers or find_powers()
    if powers.why_not is not None:
        raise refuse(
            "sandbox_unavailable",
            field="--sandbox",
            value="process",
            rule=powers.why_not,
            remedy=f"run `{powers.fix}`"
            if powers.fix
            else "use --sandbox runsc as root, or a host that has user namespaces",
        )
    return "none" if powers.own_network else "host"


def check_workdir(workdir: str) -> None:
    """The work folder must be one that the attempt may write."""
    parts = PurePosixPath(workdir).parts
    if len(parts) > 1 and parts[1] in SHOWN:
        raise refuse(
            "sandbox_workdir",
            field="environment.workdir",
            value=workdir,
            rule=f"without gVisor /{parts[1]} is this host's own and read-only",
            remedy="use --sandbox runsc, or a workdir such as /work",
        )


def private_places(paths: StatePaths, config: Path | None) -> tuple[str, ...]:
    """Where keys and state lie; a sandbox that shows folders of the host must cover them."""
    places = [paths.root]
    if config is not None:
        places += [config.parent, config.parent / KEYS]
    return tuple(str(place.resolve()) for place in places)
