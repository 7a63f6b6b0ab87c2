"""Host facts where no launcher is left to report them. Pure.

They say only why nobody saw the end: a claim that had come before still decides, and where there is
none the sandbox counts as lost.
"""

from stanchion.protocol.evidence import HostFacts

_NOBODY = "no launcher was left to count them"


def lost_host(host_restarted: bool) -> HostFacts:  # noqa: FBT001 - the one thing it depends on
    """The attempt directory is gone."""
    why = (
        "the host was restarted while the attempt ran"
        if host_restarted
        else "its attempt directory is gone and nobody reported how the sandbox ended"
    )
    return HostFacts(oom_kills_why=_NOBODY, lost_why=why)


def silent_host(silent_s: int) -> HostFacts:
    """Neither a supervisor nor a launcher was heard of for too long."""
    why = f"no supervisor was connected and no launcher reported for {silent_s} s"
    return HostFacts(oom_kills_why=_NOBODY, lost_why=why)
