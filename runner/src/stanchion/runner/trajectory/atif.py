"""The part of ATIF v1.8 that is written here, as types.

Source: the Agent Trajectory Interchange Format, RFC 0001 of the Harbor project, version 1.8; the
tests validate against the public models of the package `atif` 1.8. Unknown numbers are written as
null; what else is unknown is left out, as the format has it.
"""

from typing import Any

import msgspec

SCHEMA_VERSION = "ATIF-v1.8"
OWN = "stanchion"
"""The one key that is ours in every `extra`."""


class _Part(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Base: what is not known is left out."""


class Agent(_Part, frozen=True, kw_only=True):
    """Which harness, and which model it was told."""

    name: str
    version: str
    model_name: str | None = None
    extra: dict[str, Any] | None = None


class ToolCall(_Part, frozen=True, kw_only=True):
    """One call."""

    tool_call_id: str
    function_name: str
    arguments: dict[str, Any]
    extra: dict[str, Any] | None = None


class SubagentRef(_Part, frozen=True, kw_only=True):
    """A conversation that a call began."""

    trajectory_id: str
    session_id: str | None = None


class Result(_Part, frozen=True, kw_only=True):
    """What a call came to."""

    source_call_id: str
    content: str | None = None
    subagent_trajectory_ref: list[SubagentRef] | None = None
    extra: dict[str, Any] | None = None


class Observation(_Part, frozen=True, kw_only=True):
    """The results of a step's calls."""

    results: list[Result]


class Metrics(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens of one response."""

    prompt_tokens: int | None
    completion_tokens: int | None
    cached_tokens: int | None
    extra: dict[str, Any]


class Step(_Part, frozen=True, kw_only=True):
    """One turn."""

    step_id: int
    source: str
    message: str
    timestamp: str | None = None
    model_name: str | None = None
    reasoning_effort: str | None = None
    reasoning_content: str | None = None
    tool_calls: list[ToolCall] | None = None
    observation: Observation | None = None
    metrics: Metrics | None = None
    llm_call_count: int | None = None
    extra: dict[str, Any] | None = None


class FinalMetrics(msgspec.Struct, frozen=True, kw_only=True):
    """Sums over all responses on record."""

    total_prompt_tokens: int | None
    total_completion_tokens: int | None
    total_cached_tokens: int | None
    total_cost_usd: float | None
    total_steps: int


class Trajectory(_Part, frozen=True, kw_only=True):
    """The document."""

    schema_version: str
    session_id: str | None = None
    trajectory_id: str | None = None
    agent: Agent
    steps: list[Step]
    notes: str | None = None
    final_metrics: FinalMetrics | None = None
    extra: dict[str, Any] | None = None
    subagent_trajectories: "list[Trajectory] | None" = None
