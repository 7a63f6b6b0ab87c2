from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from fakes.attempt import a_spec, lay_out
from fakes.scripted_harness import ScriptedHarness
from stanchion.harness_adapters.base import Settings, Written
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.launch import (
    Correction,
    Effort,
    HarnessRef,
    Isolation,
    Limit,
    Limits,
    LimitSource,
    SandboxSpec,
)
from stanchion.protocol.refusal import RefusedError
from stanchion.supervisor.gate import (
    check_isolation,
    check_package,
    check_terms,
    check_written,
    corrected,
    isolation_mode,
)
from stanchion.supervisor.launch_files import Launch, PackageSeen, load

ADAPTER = ScriptedHarness("")
SETTINGS = Settings(
    model="m",
    base_url="http://127.0.0.1:8",
    dialect=Dialect.OPENAI_CHAT,
    output_limit=1000,
    context=None,
    effort="high",
    instruction="",
    home="/root",
    workdir="/work",
    package_dir="/p",
    env={},
)
WRITTEN = Written(
    model="m", base_url="http://127.0.0.1:8/v1", output_limit=1000, context=None, effort="high"
)
NOTHING: frozenset[str] = frozenset()
SEEN = PackageSeen(manifest_sha256="1" * 64, name="scripted", version="1.0")


def launch(tmp_path: Path, **changes: Any) -> Launch:
    loaded = load(lay_out(tmp_path).paths)
    spec = msgspec.structs.replace(loaded.frozen.spec, **changes)
    return replace(loaded, frozen=msgspec.structs.replace(loaded.frozen, spec=spec))


def test_what_is_declared_in_full_may_start(tmp_path: Path) -> None:
    assert check_terms(launch(tmp_path), ADAPTER) == 1000


def test_a_raw_effort_word_and_none_at_all_pass(tmp_path: Path) -> None:
    assert check_terms(launch(tmp_path, effort=Effort(word="odd", raw=True)), ADAPTER)
    (tmp_path / "b").mkdir()
    assert check_terms(launch(tmp_path / "b", effort=Effort()), ADAPTER)


@pytest.mark.parametrize(
    ("changes", "refusal", "names"),
    [
        ({"limits": Limits(output_tokens=None)}, "limit_missing", "--output-limit"),
        ({"effort": Effort(word="huge")}, "effort_unknown", "xhigh"),
        ({"protocol": 2}, "protocol_differs", "protocol 1"),
        ({"dialect": Dialect.GEMINI, "effort": Effort()}, "dialect_unsupported", "openai_chat"),
        (
            {"harness": HarnessRef(name="scripted", version="2.0", sha256="")},
            "harness_version",
            "1.0",
        ),
    ],
)
def test_a_broken_rule_is_named_with_its_remedy(
    tmp_path: Path, changes: dict[str, Any], refusal: str, names: str
) -> None:
    with pytest.raises(RefusedError, match=names) as raised:
        check_terms(launch(tmp_path, **changes), ADAPTER)
    assert raised.value.refusal.id == refusal


def test_another_instruction_is_another_task(tmp_path: Path) -> None:
    with pytest.raises(RefusedError) as raised:
        check_terms(replace(launch(tmp_path), instruction_sha256="f"), ADAPTER)
    assert raised.value.refusal.id == "instruction_differs"


def test_the_named_package_passes() -> None:
    check_package(a_spec(), SEEN)


@pytest.mark.parametrize(
    "change",
    [
        {"manifest_sha256": None},
        {"manifest_sha256": "2" * 64},
        {"name": "other"},
        {"version": None},
        {"wrong_sizes": ("bin/program",)},
    ],
)
def test_any_other_package_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(RefusedError) as raised:
        check_package(a_spec(), replace(SEEN, **change))
    assert raised.value.refusal.id == "harness_differs"
    assert raised.value.refusal.value is not None


def test_a_configuration_that_says_what_was_asked_passes() -> None:
    check_written(SETTINGS, WRITTEN, NOTHING)
    check_written(SETTINGS, replace(WRITTEN, base_url="http://127.0.0.1:8"), NOTHING)


def test_an_effort_nobody_asked_for_is_recorded_not_refused() -> None:
    check_written(replace(SETTINGS, effort=None), replace(WRITTEN, effort="medium"), NOTHING)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("model", "m2"),
        ("output_limit", 32_000),
        ("output_limit", None),
        ("context", 5),
        ("effort", None),
        ("effort", "medium"),
        ("base_url", None),
        ("base_url", "http://127.0.0.1:80/v1"),
        ("base_url", "https://elsewhere/v1"),
    ],
)
def test_a_configuration_that_differs_is_refused_by_name(field: str, value: object) -> None:
    with pytest.raises(RefusedError) as raised:
        check_written(SETTINGS, replace(WRITTEN, **{field: value}), NOTHING)  # type: ignore[arg-type]
    assert raised.value.refusal.id == "config_differs"
    assert raised.value.refusal.field == f"configuration.{field}"


def test_what_is_corrected_or_unsayable_may_be_missing_and_never_differ() -> None:
    limited = msgspec.structs.replace(
        a_spec(),
        corrections=(Correction(field="max_tokens", value=SETTINGS.output_limit, why="w"),),
        limits=Limits(output_tokens=Limit(value=SETTINGS.output_limit, source=LimitSource.LAUNCH)),
    )
    assert corrected(limited) == {"output_limit"}
    assert corrected(a_spec()) == NOTHING
    known = replace(SETTINGS, context=400_000)
    silent = replace(WRITTEN, output_limit=None, context=None, unsaid=frozenset({"context"}))
    check_written(known, silent, corrected(limited))
    for wrong in (
        replace(silent, output_limit=1),
        replace(silent, context=1),
        replace(silent, model=None),
        replace(silent, unsaid=NOTHING),
    ):
        with pytest.raises(RefusedError):
            check_written(known, wrong, corrected(limited))


@pytest.mark.parametrize(
    ("asked", "checks", "mode"),
    [
        (Isolation.M2, {"a": True, "b": True}, "M2"),
        (Isolation.M2, {"a": True, "b": False}, "none"),
        (Isolation.M2, {}, "none"),
        (Isolation.NONE, {}, "none"),
        (Isolation.NONE, {"a": True}, "none"),
    ],
)
def test_the_mode_is_what_every_check_says(
    asked: Isolation, checks: dict[str, bool], mode: str
) -> None:
    assert isolation_mode(asked, checks) == mode


def test_isolation_fails_closed_unless_weak_is_allowed() -> None:
    strict = a_spec(sandbox=SandboxSpec(isolation=Isolation.M2))
    weak = a_spec(sandbox=SandboxSpec(isolation=Isolation.M2, allow_weak=True))
    assert check_isolation(strict, {"a": True}) == "M2"
    assert check_isolation(weak, {"a": False}) == "none"
    assert check_isolation(a_spec(), {}) == "none"
    for checks, value in (({"hidden": False, "b": True}, "hidden"), ({}, "no check ran")):
        with pytest.raises(RefusedError) as raised:
            check_isolation(strict, checks)
        assert (raised.value.refusal.id, raised.value.refusal.value) == ("isolation_failed", value)
