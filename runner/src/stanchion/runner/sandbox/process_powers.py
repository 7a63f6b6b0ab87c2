"""What this host lets an attempt without gVisor do, found out by trying it.

Changes nothing; the trial runs in processes of its own. What does not work is said with the
remedy, never worked around: without namespaces an agent would have the host's files.
"""

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ENTRY = Path(__file__).with_name("process_entry.py")
PROBE_S = 20.0
SWITCHES = (
    ("kernel/apparmor_restrict_unprivileged_userns", "1", "0"),
    ("kernel/unprivileged_userns_clone", "0", "1"),
    ("user/max_user_namespaces", "0", "15000"),
)
"""Settings that forbid it, the value that does, and one that allows it; any may be absent."""


@dataclass(frozen=True, slots=True)
class Powers:
    """What works."""

    why_not: str | None
    """None = an attempt can run as a process; else the reason and the remedy."""
    fix: str | None
    own_network: bool
    """False = the attempt would have the host's network."""


def entry_command(interpreter: str = sys.executable) -> list[str]:
    """How the entering program is started."""
    return [interpreter, "-I", "-S", str(ENTRY)]


def find_powers(
    command: Sequence[str] | None = None, *, settings: Path = Path("/proc/sys")
) -> Powers:
    """Try it."""
    command = command or entry_command()
    try:
        done = subprocess.run(
            [*command, "probe"], capture_output=True, timeout=PROBE_S, check=True, env={}
        )
        found: dict[str, str | None] = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        return Powers(why_not=f"the trial failed: {error}", fix=None, own_network=False)
    return judge(found, forbidding_switch(settings))


def judge(found: dict[str, str | None], switch: tuple[str, str] | None) -> Powers:
    """From what the trial said, and the setting that may be to blame."""
    words = found["namespaces"]
    if words is None:
        return Powers(why_not=None, fix=None, own_network=found["network"] is None)
    fix = None
    why = f"this host gives no namespaces to this user ({words})"
    if switch is not None:
        name, value = switch
        fix = f"sudo sysctl {name}={value}"
        why = f"{why}; {name} forbids it"
    return Powers(why_not=why, fix=fix, own_network=False)


def forbidding_switch(settings: Path) -> tuple[str, str] | None:
    """The setting that forbids user namespaces, and the value that would allow them."""
    for path, forbids, allows in SWITCHES:
        try:
            value = (settings / path).read_text(encoding="ascii").strip()
        except OSError:
            continue
        if value == forbids:
            return path.replace("/", "."), allows
    return None
