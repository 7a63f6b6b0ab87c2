"""The tasks of a smoke run, and what each of them is there for."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SmokeTask:
    """One of the examples."""

    name: str
    needs_tool: bool
    """It cannot be done without one, so that a request brings a tool's result back: harnesses and
    gateways have lost the effort there and nowhere else."""
    needs_reasoning: bool
    """No model does it without."""


TASKS = (
    SmokeTask("hello", needs_tool=True, needs_reasoning=False),
    SmokeTask("long-think", needs_tool=True, needs_reasoning=True),
)
