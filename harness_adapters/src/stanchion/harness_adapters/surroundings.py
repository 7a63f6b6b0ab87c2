"""The part of a harness's environment that is the same for all of them.

Decides search path, home, language and that nothing goes through a proxy to the relay. Pure; it
must never take a variable away that the task gave, except those it sets itself.
"""

from stanchion.harness_adapters.base import Settings

SEARCH_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
RELAY_HOST = "127.0.0.1"


def surroundings(settings: Settings) -> dict[str, str]:
    """The task's own variables, above defaults and below what must hold."""
    no_proxy = ",".join(
        host
        for host in (settings.env.get("NO_PROXY") or settings.env.get("no_proxy"), RELAY_HOST)
        if host
    )
    return {
        "PATH": SEARCH_PATH,
        "LANG": "C.UTF-8",
        **settings.env,
        "TERM": "dumb",
        "HOME": settings.home,
        "NO_PROXY": no_proxy,
        "no_proxy": no_proxy,
    }
