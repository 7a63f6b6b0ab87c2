"""What a command tells a keeper to do, and what a keeper says back, one JSON line each.

The order is the only way in for the rehearsal's key: never argv, environment or a file. A keeper's
reports are for whoever still listens; nothing waits for them to be read.
"""

import msgspec

from stanchion.protocol.admin import OpenRun
from stanchion.protocol.refusal import Refusal


class Pieces(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Host paths of what a sandbox is put together from, and what its process 1 is."""

    runsc: str | None
    rootfs: str | None
    """Both None where the launch is for a sandbox without gVisor."""
    bundle: str
    harness: str
    command: tuple[str, ...]
    hidden: tuple[str, ...] = ()
    """Folders of keys and state, which no sandbox may be shown."""


class RehearsalOrder(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Start a rehearsal provider for this attempt."""

    script: str
    key: str
    """Random, for this run alone."""


class Order(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One attempt."""

    admin_socket: str
    open_run: OpenRun
    """Complete but for the rehearsal's port."""
    pieces: Pieces
    instruction: str
    task_folder: str
    result_folder: str
    scratch_folder: str
    """Where overlay and configuration of the sandbox live while it does."""
    sandbox_id: str
    notes: dict[str, str] = {}
    """What there is to say about the task, by field; goes into the result's `why`."""
    notes_folder: str | None = None
    """Where the keeper leaves word of itself; None = nowhere."""
    rehearsal: RehearsalOrder | None = None
    deadline_slack_s: int = 120
    """Added to what the spec allows before the host ends the sandbox itself."""
    obey_s: int = 60
    """For a supervisor that was told to stop to stop its agent, flush and exit by itself."""
    broker_away_s: int = 120
    """A broker that is away for so long counts as lost."""


class Opened(msgspec.Struct, frozen=True, kw_only=True, tag="opened"):
    """The broker took the attempt; its sandbox is started next."""

    id: str
    launch_sha256: str


class NotOpened(msgspec.Struct, frozen=True, kw_only=True, tag="not_opened"):
    """The broker refused the attempt; no sandbox was started."""

    refusal: Refusal


class BrokerAway(msgspec.Struct, frozen=True, kw_only=True, tag="broker_away"):
    """The broker could not be reached before the attempt was opened."""

    why: str


class Failed(msgspec.Struct, frozen=True, kw_only=True, tag="failed"):
    """The keeper cannot do its work; no result was written."""

    why: str


class Ended(msgspec.Struct, frozen=True, kw_only=True, tag="ended"):
    """The attempt is over and its result is written."""

    result: str
    """Absolute path of result.json."""


Report = Opened | NotOpened | BrokerAway | Failed | Ended
