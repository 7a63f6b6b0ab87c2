"""`stanchion harness`: agent programs on this machine, and what they were seen to do."""

from pathlib import Path

import click

AS_JSON = click.option(
    "--json", "as_json", is_flag=True, help="One JSON document on standard output."
)
STATE_DIR = click.option("--state-dir", metavar="DIR", help="Where cached pieces live.")


@click.group
def harness() -> None:
    """Coding-agent harnesses: which releases there are, and what they really send."""


@harness.command("list")
@AS_JSON
@STATE_DIR
def list_harnesses(*, as_json: bool, state_dir: str | None) -> None:
    """Every harness with its releases, its APIs, and what lies on this disk."""
    from stanchion.protocol.codec import encode
    from stanchion.runner.cli.failures import translated
    from stanchion.runner.harnesses.listing import known_releases, listing_lines

    with translated(as_json=as_json):
        releases = known_releases(_cache(state_dir))
    click.echo(encode(releases) if as_json else "\n".join(listing_lines(releases)))


@harness.command
@click.argument("release", metavar="NAME[@VERSION]")
@AS_JSON
@STATE_DIR
def fetch(*, release: str, as_json: bool, state_dir: str | None) -> None:
    """Bring a pinned release onto this machine; without a version the newest one."""
    from stanchion.images.harness_store import ensure_harness
    from stanchion.images.progress import ignore
    from stanchion.protocol.codec import encode
    from stanchion.runner.cli.failures import translated
    from stanchion.runner.harnesses.listing import FetchedRelease, release_of
    from stanchion.runner.launching.pieces import reporter

    report = ignore if as_json else reporter(lambda text: click.echo(text, err=True))
    with translated(as_json=as_json):
        name, version = release_of(release)
        made = ensure_harness(_cache(state_dir), name, version, report)
    done = FetchedRelease(
        name=name, version=version, path=str(made.path), digest=made.digest,
        size_bytes=made.size_bytes, cached=made.cached,
    )  # fmt: skip
    click.echo(encode(done) if as_json else f"{done.path}  sha256:{done.digest}")


@harness.command
@click.option("--program", required=True, help="The file to start, below the harness's folder.")
@click.option("--npm", multiple=True, metavar="PACKAGE@VERSION", help="Where it comes from.")
@click.option("--node", metavar="VERSION", help="A script: with its dependencies and this Node.")
@click.option("--pypi", multiple=True, metavar="PACKAGE==VERSION", help="Or where it comes from.")
@click.option("--skip", multiple=True, metavar="PACKAGE", help="Leave this one of the tree out.")
@click.option("-o", "file", type=click.Path(dir_okay=False, path_type=Path), help="Lock file.")
def lock(
    *,
    program: str,
    npm: tuple[str, ...],
    node: str | None,
    pypi: tuple[str, ...],
    skip: tuple[str, ...],
    file: Path | None,
) -> None:
    """Pin a new release: resolve it, download it once, print or write its lock file.

    For maintainers: the file belongs into images/…/harness_locks/NAME/VERSION.json, to be reviewed
    like code. Without --node the npm package holds a program of its own and is taken alone.
    """
    from stanchion.images.harness_store import locking, locks
    from stanchion.images.host import architecture
    from stanchion.runner.cli.failures import translated

    wish = locking.Wish(program=program, npm=npm, node=node, pypi=pypi, skip=frozenset(skip))
    with translated(as_json=False):
        machine = architecture()
        releases = {machine.npm: locking.make(wish, machine)}
        if file is None:
            click.echo(locks.encode(releases), nl=False)
            return
        known = locks.decode(file.read_bytes()) if file.exists() else {}
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(locks.encode({**known, **releases}))


@harness.command
@click.argument("releases", metavar="[NAME[@VERSION]]...", nargs=-1)
@click.option("--dialect", "dialects", multiple=True, metavar="NAME", help="This API only.")
@click.option("--quick", is_flag=True, help="Each limit once and each effort word once an API.")
@click.option("--record", is_flag=True, help="Keep what was seen as the release's record.")
@AS_JSON
@STATE_DIR
@click.pass_context
def check(
    context: click.Context,
    *,
    releases: tuple[str, ...],
    dialects: tuple[str, ...],
    quick: bool,
    record: bool,
    as_json: bool,
    state_dir: str | None,
) -> None:
    """Run the real harness and say what of limits and efforts reached the wire (root, runsc).

    Requested -> written -> observed for 8000, 64000, 128000 and 200000 tokens and each effort word
    of each API, on first and on repeated requests, with a scripted provider. Exits 1 where a cell
    is wrong or differs from the release's record. Without a name: every harness.
    """
    import os

    from stanchion.broker.client import StatePaths
    from stanchion.protocol.dialects import Dialect
    from stanchion.runner.cli.failures import translated
    from stanchion.runner.harnesses.check_command import Wanted, run_check

    if unknown := [name for name in dialects if name not in set(Dialect)]:
        raise click.BadParameter(
            f"{unknown[0]} is none of {', '.join(Dialect)}", param_hint="--dialect"
        )
    wanted = Wanted(releases, tuple(Dialect(name) for name in dialects), quick, record, as_json)
    with translated(as_json=as_json):
        code = run_check(wanted, StatePaths.resolve(state_dir, os.environ))
    context.exit(code)


def _cache(state_dir: str | None) -> Path:
    import os

    from stanchion.broker.client import StatePaths

    return StatePaths.resolve(state_dir, os.environ).cache_dir
