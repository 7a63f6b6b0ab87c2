"""Decides when the store is looked at: at once where a change was told or seen, else now and then.

Pure. A commit shows to a reader a moment after its last write to the log (SQLite, "WAL-mode File
Format", 2.3: the index's header is written last, through shared memory, which no event tells), so
every look for a change is followed by one more. Where changes show that were not told, telling
does not work there, and looking takes its place.
"""

from dataclasses import dataclass

MOST_MISSED = 2


@dataclass(frozen=True, slots=True)
class StoreRhythm:
    """How often the store is looked at."""

    stamp_s: float = 0.1
    """After a change, and between two looks at the stamp where changes are not told; there doubled
    up to `idle_s` while nothing changes."""
    again_s: float = 0.02
    """After a change that brought no row: its commit may show any moment."""
    idle_s: float = 0.4
    told_s: float = 5.0
    """Between two looks at the stamp where changes are told."""
    backstop_s: float = 15.0
    """Between two looks at the log itself where its stamp stands still."""
    stuck_s: float = 10.0


@dataclass(frozen=True, slots=True)
class Step:
    """What to do now, and how long to rest after it."""

    look: bool
    rest_s: float
    light: bool
    """Whether a told change ends the rest."""
    eager: bool = False
    """Whether a look that finds no row is repeated at once: there was a change."""


class Pace:
    """The rhythm of one store."""

    def __init__(self, rhythm: StoreRhythm) -> None:
        self._rhythm = rhythm
        self._rest_s = rhythm.stamp_s
        self._since_look_s = 0.0
        self._once_more = False
        self._followed = False
        self._suspect = False
        """A change was seen that had not been told; its telling may be under way."""
        self.missed = 0

    @property
    def trusts(self) -> bool:
        """Whether being told may take the place of looking."""
        return self.missed < MOST_MISSED

    def step(self, *, told: bool, changed: bool, followed: bool) -> Step:
        """Told: by an event, since the last step. Changed: the stamp, since the last step."""
        if self._suspect and not told:
            self.missed += 1
        untold = changed and not told and not self._once_more
        self._suspect = untold and self._followed and followed and self.trusts
        self._followed = followed
        fresh = told or changed
        overdue = self._since_look_s >= self._rhythm.backstop_s
        look = fresh or self._once_more or overdue
        self._once_more = fresh
        light = followed and self.trusts and not fresh
        if fresh:
            self._rest_s = self._rhythm.stamp_s
        elif light:
            self._rest_s = self._rhythm.told_s
        else:
            self._rest_s = min(self._rest_s * 2, self._rhythm.idle_s)
        self._since_look_s = self._rest_s if look else self._since_look_s + self._rest_s
        return Step(look=look, rest_s=self._rest_s, light=light, eager=fresh)
