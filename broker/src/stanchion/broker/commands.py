"""The broker's commands: serve, status, stop, logs, key; and `audit`, which needs no broker.

Arguments in, one sentence or one JSON document out. Imports of the server stay inside `serve`, so
that the other commands start fast.
"""

import asyncio
import os
import select
from pathlib import Path

import click
import msgspec

from stanchion.broker.auditing.command import audit
from stanchion.broker.client.paths import StatePaths, runtime_dir
from stanchion.broker.failures import BrokerFailedError
from stanchion.broker.upkeep.check_command import check
from stanchion.broker.upkeep.key_command import key as key_group
from stanchion.protocol.admin import ErrorReply, Health
from stanchion.protocol.refusal import RefusedError

__all__ = ["audit", "broker", "key_group"]

STOP_WAIT_S = 30.0

_state_dir = click.option(
    "--state-dir",
    metavar="DIR",
    help="State folder [default: $STANCHION_STATE, /var/lib/stanchion for root, "
    "else the XDG state folder].",
)


@click.group()
def broker() -> None:
    """Hold the provider keys and see every model request."""


broker.add_command(check)


@broker.command()
@_state_dir
@click.option(
    "--config",
    "config_path",
    type=click.Path(path_type=Path),
    envvar="STANCHION_CONFIG",
    help="stanchion.toml; without one only the built-in rehearsal profile exists.",
)
@click.option("--runtime-dir", type=click.Path(path_type=Path), help="For attempt directories.")
@click.option("--ready-fd", type=int, help='Write {"pid": …} to this descriptor when listening.')
@click.option(
    "--idle-exit",
    "idle_exit_s",
    type=click.FloatRange(min=0, min_open=True),
    metavar="S",
    help="End by itself once no attempt was open and nobody asked anything for so many seconds "
    "[default: stay]. `stanchion run` starts its broker with 900.",
)
def serve(
    state_dir: str | None,
    config_path: Path | None,
    runtime_dir: Path | None,
    ready_fd: int | None,
    idle_exit_s: float | None,
) -> None:
    """Run the broker in the foreground."""
    from stanchion.broker.receipts.ledger import LedgerError
    from stanchion.broker.receipts.signing import KeyFileError
    from stanchion.broker.serve import Settings, run, tell_why

    settings = Settings(
        paths=StatePaths.resolve(state_dir, os.environ),
        runtime_dir=runtime_dir or _default_runtime_dir(),
        config_path=None if config_path is None else config_path.absolute(),
        ready_fd=ready_fd,
        idle_exit_s=idle_exit_s,
        environ=os.environ,
    )
    try:
        run(settings)
    except RefusedError as error:
        tell_why(ready_fd, error.refusal)
        raise
    except OSError as error:
        raise BrokerFailedError(f"{error.filename}: {error.strerror}") from error
    except (LedgerError, KeyFileError) as error:
        raise BrokerFailedError(str(error)) from error


@broker.command()
@_state_dir
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def status(state_dir: str | None, *, as_json: bool) -> None:
    """Say whether a broker runs, and with what."""
    health = _ask(StatePaths.resolve(state_dir, os.environ), stop=False)
    if as_json:
        click.echo(msgspec.json.encode(health))
        return
    config = health.config_path or "none, only the built-in rehearsal profile"
    click.echo(f"broker {health.version}, pid {health.pid}, {health.open_runs} open attempts")
    click.echo(f"configuration: {config}")


@broker.command()
@_state_dir
def stop(state_dir: str | None) -> None:
    """End the broker, after its receipts are on the disk."""
    health = _ask(StatePaths.resolve(state_dir, os.environ), stop=True)
    try:
        descriptor = os.pidfd_open(health.pid)
    except ProcessLookupError:
        descriptor = None
    if descriptor is not None:
        ended, _, _ = select.select([descriptor], [], [], STOP_WAIT_S)
        os.close(descriptor)
        if not ended:
            raise BrokerFailedError(f"broker {health.pid} did not end in {STOP_WAIT_S:.0f} s")
    click.echo(f"broker {health.pid} ended")


@broker.command()
@_state_dir
@click.option("-f", "--follow", is_flag=True, help="Go on with what is added, until Ctrl-C.")
@click.option("-n", "--lines", type=click.IntRange(min=0), default=200, show_default=True)
def logs(state_dir: str | None, *, follow: bool, lines: int) -> None:
    """Print the end of the broker's log."""
    from stanchion.broker.log_reading import added, last_lines

    file = StatePaths.resolve(state_dir, os.environ).log_file
    try:
        end, size = last_lines(file, lines)
    except OSError as error:
        raise BrokerFailedError(
            f"{file}: {error.strerror}; a broker writes it from its first start on",
            next_command="stanchion broker serve",
        ) from error
    click.echo(end, nl=False)
    if follow:
        for piece in added(file, size):
            click.echo(piece, nl=False)


@broker.command()
@_state_dir
def key(state_dir: str | None) -> None:
    """Print the public key that verifies this broker's receipts."""
    from stanchion.broker.receipts.signing import KeyFileError, read_public_key

    file = StatePaths.resolve(state_dir, os.environ).public_key_file
    try:
        click.echo(read_public_key(file))
    except (KeyFileError, OSError) as error:
        raise BrokerFailedError(
            f"{error}; a broker makes it at its first start", next_command="stanchion broker serve"
        ) from error


@broker.command(hidden=True)
@click.option("--config", "config_path", type=click.Path(path_type=Path))
def profiles(config_path: Path | None) -> None:
    """Print what a launcher may know of each profile, or the refusal; reads no key."""
    from stanchion.broker.config import built_in
    from stanchion.broker.upkeep.configured import find
    from stanchion.protocol.codec import encode

    try:
        config = built_in() if config_path is None else find(str(config_path)).config
    except RefusedError as error:
        click.echo(encode(ErrorReply(error=error.refusal)))
        return
    click.echo(encode([profile.view(name) for name, profile in config.profiles.items()]))


def _default_runtime_dir() -> Path:
    return runtime_dir(os.environ)


def _ask(paths: StatePaths, *, stop: bool) -> Health:
    """The health of the live broker, told to end if wanted."""
    from stanchion.broker.client import BrokerClient

    async def ask() -> Health:
        async with BrokerClient(paths.admin_socket) as client:
            health = await client.health()
            if stop:
                await client.stop()
            return health

    return asyncio.run(ask())
