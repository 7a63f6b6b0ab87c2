"""Reads the reward that the tests left: as text, unjudged, and no link on the way.

Where both files are there, reward.json counts, as in Harbor. A file that is there and may not be
read is named; the other one never stands in for it.
"""

from dataclasses import dataclass
from pathlib import Path

from stanchion.supervisor.regular_files import read_regular

MOST_REWARD_BYTES = 64 * 1024
NAMES = ("reward.json", "reward.txt")


@dataclass(frozen=True, slots=True)
class RewardFile:
    """What was found; all None = no file."""

    name: str | None = None
    text: str | None = None
    error: str | None = None


def read_reward_file(folder: Path) -> RewardFile:
    """The reward in the verifier's log folder."""
    for name in NAMES:
        try:
            content = read_regular(folder / name, MOST_REWARD_BYTES)
        except FileNotFoundError:
            continue
        except OSError as error:
            return RewardFile(name, None, str(error))
        if content is None:
            return RewardFile(name, None, f"{name} is larger than {MOST_REWARD_BYTES} bytes")
        return RewardFile(name, content.decode("utf-8", "replace"))
    return RewardFile()
