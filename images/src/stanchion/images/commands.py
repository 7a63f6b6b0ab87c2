"""`stanchion images`: make or find the pieces a sandboxed run is put together from.

Only reads arguments and prints; the work is imported when a command runs, so that `--help` costs
nothing. With --json the one document on standard output is the result, and progress is silent.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from stanchion.images.progress import Progress, Report

CACHE_DIR = click.option(
    "--cache-dir",
    type=click.Path(file_okay=False, path_type=Path),
    default=None,
    help="Where pieces are kept. [default: cache/ in the state folder]",
)
AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")


@click.group()
def images() -> None:
    """Supervisor bundle and base image on this machine."""


@images.command()
@click.option("--refresh", is_flag=True, help="Ask apt for newer Debian packages.")
@CACHE_DIR
@AS_JSON
def bundle(*, refresh: bool, cache_dir: Path | None, as_json: bool) -> None:
    """Make the folder that is /opt/stanchion in a sandbox."""
    from stanchion.images.bundle import ensure_bundle

    def make(cache: Path, report: "Report") -> dict[str, object]:
        made = ensure_bundle(cache, report, refresh=refresh)
        return _describe(made.path, made.digest, made.size_bytes, cached=made.cached)

    _make(make, cache_dir, as_json=as_json)


@images.command()
@CACHE_DIR
@AS_JSON
def base(*, cache_dir: Path | None, as_json: bool) -> None:
    """Make the root file system for tasks without an image of their own (root)."""
    from stanchion.images.rootfs import ensure_base

    def make(cache: Path, report: "Report") -> dict[str, object]:
        made = ensure_base(cache, progress=report)
        return _describe(made.path, made.digest, made.size_bytes, cached=made.cached)

    _make(make, cache_dir, as_json=as_json)


def _make(
    make: Callable[[Path, "Report"], dict[str, object]], cache_dir: Path | None, *, as_json: bool
) -> None:
    from stanchion.images.errors import ImagesError
    from stanchion.images.host import default_cache_dir
    from stanchion.images.progress import ignore

    try:
        made = make(cache_dir or default_cache_dir(), ignore if as_json else _print_progress)
    except ImagesError as refused:
        if as_json:
            _print_json({"error": str(refused), "fix": refused.fix})
        else:
            click.echo(f"stanchion images: {refused}", err=True)
        sys.exit(1)
    if as_json:
        _print_json(made)
    else:
        click.echo(f"{made['path']}  sha256:{made['digest']}")


def _print_progress(step: "Progress") -> None:
    size = f" ({step.total_bytes / 1_000_000:.1f} MB)" if step.total_bytes else ""
    stage = step.stage.replace("_", " ")
    click.echo(f"{step.piece}: {stage}: {step.message}{size}", err=True)


def _describe(path: Path, digest: str, size_bytes: int, *, cached: bool) -> dict[str, object]:
    return {"path": str(path), "digest": digest, "size_bytes": size_bytes, "cached": cached}


def _print_json(document: dict[str, Any]) -> None:
    click.echo(json.dumps(document))
