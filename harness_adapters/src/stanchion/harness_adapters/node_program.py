"""How a harness that is a Node program is started from its package, and what would steer Node.

Decides nothing about the harness itself. Pure; it must never name a Node of the image: the one in
the package is pinned with it.
"""

from stanchion.harness_adapters.base import Settings

NODE = "runtime/bin/node"
"""Below the package's folder."""
RESERVED_PREFIXES = ("NODE_", "NPM_", "UV_")
"""Variables that load code into Node or change how it resolves and connects."""


def command(settings: Settings, script: str, *flags: str) -> tuple[str, ...]:
    """Run a script of the package with the package's own Node."""
    package = settings.package_dir
    return (f"{package}/{NODE}", f"{package}/{script}", *flags)
