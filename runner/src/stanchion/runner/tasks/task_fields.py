"""Every field of Harbor's `task.toml`, and what becomes of it here: one literal table. Pure.

What a field would change must happen or be refused; nothing is dropped. A field in no row is
refused too. The reference page is generated from these rows. Format: Harbor's task documentation,
schema_version 1.4.
"""

from dataclasses import dataclass
from enum import StrEnum


class Fate(StrEnum):
    """What becomes of a field."""

    OBEYED = "obeyed"
    HARMLESS = "no effect here"
    """A description, or a setting of something that does not happen here."""
    UNENFORCED = "taken down, not enforced"
    REFUSED = "refused"
    """Unless it asks for nothing: false, 0, an empty text, list or table."""


@dataclass(frozen=True, slots=True)
class Field:
    """One row."""

    name: str
    fate: Fate
    what: str
    """For obeyed ones what it does, for others why they are not; a clause."""
    remedy: str = ""


_O, _H, _U, _R = Fate.OBEYED, Fate.HARMLESS, Fate.UNENFORCED, Fate.REFUSED
_NO_NETWORK = "sandboxes have no network"
_ONE_BOX = "there is one sandbox, and nothing beside it"
_NO_NETWORK_REMEDY = "only a task that needs no network can run; change or remove it"
IMAGE_REMEDY = (
    'name a base, as base = "debian" in [metadata.stanchion], or pass an unpacked root file '
    "system with --image DIR"
)

FIELDS = (
    Field("schema_version", _O, "must be 1.x; `version` is its older name"),
    Field("version", _O, "the older name of `schema_version`"),
    Field("source", _H, "where the task comes from"),
    Field("task", _H, "name, version, authors and keywords; the folder's name is used"),
    Field("metadata", _H, "free, but for `[metadata.stanchion]`"),
    Field("multi_step_reward_strategy", _H, "means something for `[[steps]]` only"),
    Field("artifacts", _O, "kept in `artifacts/` after the tests"),
    Field("steps", _R, "tasks of several steps are not run", "make a task of each step"),
    Field("metadata.stanchion.base", _O, "root file system of the sandbox; `debian`, the default"),
    Field("metadata.stanchion.answer", _O, "absolute paths that a clean run must leave behind"),
    Field("metadata.stanchion.untouched_reward", _O, "reward of an untouched work folder; 0"),
    Field("agent.timeout_sec", _O, "deadline of the agent, without time held by the broker"),
    Field("agent.user", _O, "name or number of the user that the agent runs as; root"),
    Field("agent.network_mode", _O, "must be `no-network`"),
    Field("agent.allowed_hosts", _R, _NO_NETWORK, _NO_NETWORK_REMEDY),
    Field("verifier.timeout_sec", _O, "deadline of the tests; 600"),
    Field("verifier.user", _O, "name or number of the user that the tests run as; root"),
    Field("verifier.env", _O, "variables of the tests; `${NAME:-default}` as below"),
    Field("verifier.network_mode", _O, "must be `no-network`"),
    Field("verifier.allowed_hosts", _R, _NO_NETWORK, _NO_NETWORK_REMEDY),
    Field(
        "verifier.environment_mode", _O, "must be `shared`: the tests run in the agent's sandbox"
    ),
    Field("verifier.environment", _R, "the tests run in the agent's sandbox"),
    Field("verifier.collect", _R, _ONE_BOX, "write the files in tests/test.sh instead"),
    Field("environment.docker_image", _R, "container images are not pulled", IMAGE_REMEDY),
    Field("environment.build_timeout_sec", _H, "nothing is built"),
    Field("environment.os", _O, "must be `linux`"),
    Field("environment.cpus", _O, "CPU limit of the sandbox"),
    Field("environment.memory_mb", _O, "memory limit; never less than the harness needs"),
    Field("environment.memory", _O, "the older form of `memory_mb`, as `2G`"),
    Field("environment.storage_mb", _U, "writes are not limited: null in the result, with why"),
    Field("environment.storage", _U, "the older form of `storage_mb`"),
    Field("environment.gpus", _R, "sandboxes have no GPU"),
    Field("environment.gpu_types", _R, "sandboxes have no GPU"),
    Field("environment.tpu", _R, "sandboxes have no TPU"),
    Field("environment.network_mode", _O, "must be `no-network`; not named = none, and said"),
    Field("environment.allowed_hosts", _R, _NO_NETWORK, _NO_NETWORK_REMEDY),
    Field("environment.allow_internet", _O, "the older form of `network_mode`; must be false"),
    Field("environment.env", _O, "variables of the agent; `${NAME:-default}` as below"),
    Field("environment.workdir", _O, "work folder; `/work`"),
    Field("environment.skills_dir", _R, "skills are not mounted"),
    Field("environment.healthcheck", _R, "there is no service to wait for"),
    Field("environment.mcp_servers", _R, "there is no way out of the sandbox to them"),
    Field("solution.env", _O, "variables of `solution/solve.sh`, for the harness `oracle`"),
)

BY_NAME = {field.name: field for field in FIELDS}
TABLES = ("agent", "verifier", "environment", "solution", "metadata.stanchion")
"""Tables of which every field is known."""

REFUSED_FILES = {
    "environment/docker-compose.yaml": _ONE_BOX,
    "environment/docker-compose.yml": _ONE_BOX,
}
STOOD_IN_FILES = ("environment/Dockerfile",)
"""Refused unless a base or an image is named in their place: nothing is built from them."""
