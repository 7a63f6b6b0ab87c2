"""Starts an agent where it can reach nothing of the supervisor, and says how it ended.

Names are loaded on first use: the shim, started for every agent, imports its siblings through this
package and must not pay for asyncio and msgspec (0.2 s in gVisor).
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from stanchion.supervisor.isolation.job import IsolationError, Job, ProcessEnd
    from stanchion.supervisor.isolation.process import AgentProcess
    from stanchion.supervisor.isolation.starting import start

__all__ = ["AgentProcess", "IsolationError", "Job", "ProcessEnd", "start"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    # A submodule asked for by name comes here before it is loaded: only known names may load more.
    from stanchion.supervisor.isolation import job, process, starting

    return next(getattr(part, name) for part in (starting, process, job) if hasattr(part, name))
