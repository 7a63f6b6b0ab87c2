"""Writes what the adapter planned and the task brings, reads it back from disk, and compares.

Nothing of the agent runs yet. What the harness will understand is decided by the adapter from the
bytes that are really there.
"""

import hashlib
import os
import shutil
import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from stanchion.harness_adapters.base import (
    ARGUMENTS,
    INPUT,
    Adapter,
    Plan,
    PlannedFile,
    Settings,
)
from stanchion.harness_adapters.thinking import check_budget
from stanchion.protocol.events import ConfigWritten, Event, Warned
from stanchion.protocol.launch import LaunchSpec
from stanchion.protocol.refusal import refuse
from stanchion.supervisor.gate import check_written, corrected
from stanchion.supervisor.paths import Paths

LOGS = ("agent", "verifier", "artifacts")
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


@dataclass(frozen=True, slots=True)
class Configured:
    """What is ready to be started."""

    plan: Plan
    env: dict[str, str]


def settings_for(
    spec: LaunchSpec, *, output_limit: int, port: int, instruction: str, paths: Paths
) -> Settings:
    """The launch in the adapter's terms."""
    context = spec.limits.context
    return Settings(
        model=spec.model.id,
        base_url=f"http://127.0.0.1:{port}",
        dialect=spec.dialect,
        output_limit=output_limit,
        context=context.value if context is not None else None,
        effort=spec.effort.word,
        instruction=instruction,
        home=str(paths.home(spec.workspace.uid)),
        workdir=spec.workspace.workdir,
        package_dir=str(paths.package(spec.harness)),
        env=spec.workspace.env,
        thinking_budget=spec.effort.thinking_budget,
    )


def configure(
    adapter: Adapter,
    settings: Settings,
    spec: LaunchSpec,
    paths: Paths,
    publish: Callable[[Event], None],
) -> Configured:
    """Write, read back, compare; RefusedError where that did not give what was asked for."""
    check_budget(adapter.name, settings)
    adapter.check(settings)
    plan = adapter.plan(settings)
    env = {"PATH": PATH, "HOME": settings.home, **plan.env}
    uid = spec.workspace.uid
    try:
        _fill_workdir(paths.workdir_source, Path(spec.workspace.workdir), uid)
        _make_folder(Path(settings.home), uid)
        make_logs(paths, uid)
        for place in plan.removed:
            _remove(Path(place))
        for planned in plan.files:
            _write(planned, uid)
        if plan.solution:
            _show_solution(paths)
        contents = {
            planned.path: Path(planned.path).read_bytes()
            for planned in plan.files
            if planned.text is not None
        }
    except (OSError, shutil.Error) as error:
        raise refuse(
            "config_unwritable",
            field="configuration",
            value=str(error),
            rule="the working folder and the harness's configuration must be writable",
            remedy="Check the image's file system and the task's workdir",
        ) from error
    _name_localhost(paths.hosts_file, publish)
    seen = {**contents, ARGUMENTS: "\0".join(plan.argv).encode(), INPUT: plan.stdin}
    written = adapter.read_back(env, seen)
    publish(
        ConfigWritten(
            model=written.model,
            base_url=written.base_url,
            output_limit=written.output_limit,
            context=written.context,
            effort=written.effort,
            files={path: hashlib.sha256(data).hexdigest() for path, data in contents.items()},
        )
    )
    if adapter.asks_model:
        check_written(settings, written, corrected(spec))
    return Configured(plan=plan, env=env)


def make_logs(paths: Paths, uid: int) -> None:
    """Harbor's log folders, as plain folders that this user may write to."""
    for place in (paths.logs_dir, *(paths.logs_dir / name for name in LOGS)):
        if place.is_symlink() or place.is_file():
            place.unlink()
        place.mkdir(exist_ok=True)
        place.chmod(0o755)
        _own(place, uid)


def _write(planned: PlannedFile, uid: int) -> None:
    path = Path(planned.path)
    if planned.text is None:
        _make_folder(path, uid)
        path.chmod(planned.mode)
        return
    _make_folder(path.parent, uid)
    path.unlink(missing_ok=True)  # never through a link that the image left there
    path.write_text(planned.text, encoding="utf-8")
    path.chmod(planned.mode)
    _own(path, uid)


def _remove(path: Path) -> None:
    """Take away what the image has there. Where it has nothing, nothing is written."""
    if path.is_symlink() or path.is_file():
        path.unlink()
    elif path.exists():
        shutil.rmtree(path)


def _make_folder(path: Path, uid: int) -> None:
    """Make it and its missing parents, owned by the agent."""
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    for folder in reversed(missing):
        folder.mkdir(mode=0o755)
        _own(folder, uid)


def _fill_workdir(source: Path, workdir: Path, uid: int) -> None:
    _make_folder(workdir, uid)
    if uid != 0:
        _own(workdir, uid)
    if not source.is_dir():
        return
    shutil.copytree(source, workdir, symlinks=True, dirs_exist_ok=True)
    if uid == 0:
        return
    for inside in source.rglob("*"):
        _own(workdir / inside.relative_to(source), uid)


def _show_solution(paths: Paths) -> None:
    """For the oracle: the task's solution, its script executable as Harbor makes it."""
    shutil.rmtree(paths.solution_dir, ignore_errors=True)
    shutil.copytree(paths.solution_source, paths.solution_dir, symlinks=True)
    (paths.solution_dir / "solve.sh").chmod(0o755)


def _own(path: Path, uid: int) -> None:
    if uid != os.geteuid():
        os.chown(path, uid, uid, follow_symlinks=False)


def _name_localhost(hosts: Path, publish: Callable[[Event], None]) -> None:
    """`localhost` and our own name must resolve where there is no network to ask."""
    host = socket.gethostname()
    try:
        text = hosts.read_text("utf-8", "replace") if hosts.exists() else ""
        known = {name for line in text.splitlines() for name in line.split("#")[0].split()[1:]}
        if {"localhost", host} <= known:
            return
        before = text if not text or text.endswith("\n") else text + "\n"
        hosts.write_text(f"{before}127.0.0.1 localhost {host}\n::1 localhost\n", encoding="utf-8")
    except OSError as error:
        publish(Warned(what="hosts", detail=f"{hosts} was not written: {error}"))
