import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from fakes.attempt import Attempt, lay_out
from fakes.scripted_harness import ScriptedHarness
from stanchion.harness_adapters.base import Plan, Settings
from stanchion.protocol.events import ConfigWritten, Event, Warned
from stanchion.protocol.launch import LaunchSpec, Limit, Limits, LimitSource, Workspace
from stanchion.protocol.refusal import RefusedError
from stanchion.supervisor.configure import Configured, configure, settings_for
from stanchion.supervisor.launch_files import load


def done(attempt: Attempt, harness: ScriptedHarness) -> tuple[Configured, list[Event]]:
    events: list[Event] = []
    spec = spec_of(attempt)
    settings = settings_for(spec, output_limit=1000, port=8, instruction="do", paths=attempt.paths)
    return configure(harness, settings, spec, attempt.paths, events.append), events


def spec_of(attempt: Attempt) -> LaunchSpec:
    return load(attempt.paths).frozen.spec


def test_the_launch_in_the_adapter_s_terms(tmp_path: Path) -> None:
    attempt = lay_out(tmp_path)
    limits = Limits(
        output_tokens=Limit(value=1000, source=LimitSource.LAUNCH),
        context=Limit(value=9, source=LimitSource.OPERATOR),
    )
    spec = msgspec.structs.replace(spec_of(attempt), limits=limits)
    settings = settings_for(spec, output_limit=1000, port=8, instruction="do", paths=attempt.paths)
    assert (settings.model, settings.base_url, settings.context, settings.effort) == (
        "m",
        "http://127.0.0.1:8",
        9,
        "high",
    )
    assert settings.package_dir.endswith("harness/scripted/1.0")
    assert settings.home == str(tmp_path / "home")


def test_files_are_written_read_back_and_told(tmp_path: Path) -> None:
    attempt = lay_out(tmp_path)
    configured, events = done(attempt, ScriptedHarness(""))
    (told,) = [event for event in events if isinstance(event, ConfigWritten)]
    settings = tmp_path / "home/config/settings.json"
    assert list(told.files) == [str(settings)]
    assert json.loads(settings.read_text())["output_limit"] == 1000
    assert (tmp_path / "home/empty").stat().st_mode & 0o777 == 0o700
    assert configured.env["HOME"] == str(tmp_path / "home")
    assert configured.env["ANSWER"] == str(attempt.answer)
    assert (attempt.workdir / "given.txt").read_text() == "given"


def test_a_link_that_the_image_left_is_replaced_not_written_through(tmp_path: Path) -> None:
    attempt = lay_out(tmp_path)
    outside = tmp_path / "outside"
    outside.write_text("kept")
    (tmp_path / "home/config").mkdir(parents=True)
    (tmp_path / "home/config/settings.json").symlink_to(outside)
    done(attempt, ScriptedHarness(""))
    assert outside.read_text() == "kept"


@pytest.mark.parametrize("lie", [{"effort": "low"}, {"model": "other"}])
def test_what_reads_back_differently_is_refused_after_it_was_told(
    tmp_path: Path, lie: dict[str, Any]
) -> None:
    with pytest.raises(RefusedError) as raised:
        done(lay_out(tmp_path), ScriptedHarness("", lies=lie))
    assert raised.value.refusal.id == "config_differs"


def test_a_place_that_cannot_be_written_is_a_refusal(tmp_path: Path) -> None:
    attempt = lay_out(tmp_path)
    (tmp_path / "home").write_text("a file in the way")
    with pytest.raises(RefusedError) as raised:
        done(attempt, ScriptedHarness(""))
    assert raised.value.refusal.id == "config_unwritable"


def test_another_user_owns_what_was_made_for_it(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give files away")
    workspace = Workspace(workdir=str(tmp_path / "work"), uid=1000)
    attempt = lay_out(tmp_path, workspace=workspace)
    configured, _ = done(attempt, ScriptedHarness(""))
    home = attempt.paths.home(1000)
    made = [home, home / "config/settings.json", tmp_path / "work", tmp_path / "work/given.txt"]
    assert [path.stat().st_uid for path in made] == [1000] * 4
    assert configured.env["HOME"] == str(home)
    assert tmp_path.stat().st_uid == 0


def test_a_task_without_files_of_its_own_gets_an_empty_workdir(tmp_path: Path) -> None:
    attempt = lay_out(tmp_path)
    (attempt.paths.workdir_source / "given.txt").unlink()
    attempt.paths.workdir_source.rmdir()
    done(attempt, ScriptedHarness(""))
    assert list(attempt.workdir.iterdir()) == []


@pytest.mark.parametrize("before", [None, "127.0.0.1 localhost", "# localhost\n10.0.0.1 other\n"])
def test_localhost_resolves_and_what_was_there_stays(tmp_path: Path, before: str | None) -> None:
    attempt = lay_out(tmp_path)
    hosts = attempt.paths.hosts_file
    if before is not None:
        hosts.write_text(before)
    done(attempt, ScriptedHarness(""))
    text = hosts.read_text()
    assert text.startswith(before or "127.0.0.1 localhost")
    lines = [line.split("#")[0].split() for line in text.splitlines()]
    names = {name for line in lines for name in line[1:]}
    assert {"localhost", os.uname().nodename} <= names
    done(attempt, ScriptedHarness(""))
    assert hosts.read_text() == text


def test_hosts_that_cannot_be_written_are_only_a_warning(tmp_path: Path) -> None:
    attempt = lay_out(tmp_path)
    attempt.paths.hosts_file.mkdir()
    _, events = done(attempt, ScriptedHarness(""))
    assert [event.what for event in events if isinstance(event, Warned)] == ["hosts"]


class Remover(ScriptedHarness):
    """Has something of the image taken away."""

    removed: tuple[str, ...] = ()

    def plan(self, settings: Settings) -> Plan:
        return replace(super().plan(settings), removed=self.removed)


def test_what_would_outrank_the_configuration_is_taken_away_and_nothing_else(
    tmp_path: Path,
) -> None:
    attempt = lay_out(tmp_path)
    kept, managed = tmp_path / "kept", tmp_path / "etc/managed"
    for folder in (kept, managed):
        folder.mkdir(parents=True)
        (folder / "config.toml").write_text("x")
    (tmp_path / "etc/link").symlink_to(kept)
    harness = Remover("")
    harness.removed = (str(managed), str(tmp_path / "etc/link"), str(tmp_path / "etc/none/there"))
    done(attempt, harness)
    assert list((tmp_path / "etc").iterdir()) == []
    assert (kept / "config.toml").exists()


def test_where_it_cannot_be_taken_away_nothing_starts(tmp_path: Path) -> None:
    harness = Remover("")
    harness.removed = ("/proc/self/status",)
    with pytest.raises(RefusedError) as raised:
        done(lay_out(tmp_path), harness)
    assert raised.value.refusal.id == "config_unwritable"


class Solver(ScriptedHarness):
    """Wants the solution and asks no model."""

    def plan(self, settings: Settings) -> Plan:
        return replace(super().plan(settings), solution=True)


def test_the_solution_is_put_where_the_oracle_looks_for_it(tmp_path: Path) -> None:
    attempt = lay_out(tmp_path)
    attempt.paths.solution_source.mkdir()
    (attempt.paths.solution_source / "solve.sh").write_text("true")
    done(attempt, ScriptedHarness(""))
    assert not attempt.paths.solution_dir.exists()
    done(attempt, Solver(""))
    assert (attempt.paths.solution_dir / "solve.sh").stat().st_mode & 0o777 == 0o755


def test_a_solution_that_is_not_there_is_a_refusal(tmp_path: Path) -> None:
    with pytest.raises(RefusedError) as raised:
        done(lay_out(tmp_path), Solver(""))
    assert "solution" in raised.value.refusal.sentence()


def test_nothing_is_compared_for_a_harness_that_asks_no_model(tmp_path: Path) -> None:
    lies = {"model": None, "output_limit": None, "effort": None, "base_url": None}
    _, events = done(lay_out(tmp_path), ScriptedHarness("", lies=lies, asks_model=False))
    (told,) = [event for event in events if isinstance(event, ConfigWritten)]
    assert (told.model, told.output_limit) == (None, None)


def test_the_agent_finds_harbors_log_folders(tmp_path: Path) -> None:
    attempt = lay_out(tmp_path)
    done(attempt, ScriptedHarness(""))
    assert {path.name for path in attempt.paths.logs_dir.iterdir()} == {
        "agent", "artifacts", "verifier",
    }  # fmt: skip
