"""The profiles of a stanchion.toml without a running broker and without any key.

A short process of the broker's reads the file: only the broker knows its rules.
"""

import subprocess
import sys
from pathlib import Path

from stanchion.protocol.admin import ErrorReply, ProfileView
from stanchion.protocol.codec import CodecError, decode
from stanchion.protocol.refusal import RefusedError

READ_S = 30


def profile_views(config: Path | None) -> list[ProfileView]:
    """All of them; RefusedError where the file is wrong."""
    arguments = [] if config is None else ["--config", str(config)]
    done = subprocess.run(
        [sys.executable, "-m", "stanchion.broker", "profiles", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        check=False,
        timeout=READ_S,
    )
    try:
        return decode(done.stdout, list[ProfileView])
    except CodecError:
        raise RefusedError(decode(done.stdout, ErrorReply).error) from None
