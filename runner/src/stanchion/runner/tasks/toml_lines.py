"""On which line of a TOML text a key stands. Pure.

`tomllib` keeps no positions. This reads only what carries one: table headers, keys, and how far
their values reach. The text must be valid TOML; a key that is not found has the line of the nearest
table or key around it.
"""

import re
import tomllib

_PART = re.compile(r"""\s*(?P<key>[A-Za-z0-9_-]+|"(?:[^"\\]|\\.)*"|'[^']*')\s*(?P<after>[.=\]])?""")
_TRIPLE = ('"""', "'''")

Path = tuple[str, ...]


class TomlLines:
    """The lines of one text."""

    def __init__(self, text: str) -> None:
        self._lines = _find(text)

    def line(self, *path: str) -> int | None:
        """From 1; None where nothing around it has one."""
        for length in range(len(path), 0, -1):
            if (found := self._lines.get(path[:length])) is not None:
                return found
        return None


def _find(text: str) -> dict[Path, int]:
    found: dict[Path, int] = {}
    table: Path = ()
    value = _Value()
    for number, line in enumerate(text.splitlines(), start=1):
        if value.open:
            value.read(line)
            continue
        statement = line.strip()
        if not statement or statement.startswith("#"):
            continue
        if statement.startswith("["):
            table = _keys(statement.lstrip("["))[0]
            path = table
        else:
            keys, rest = _keys(statement)
            path = table + keys
            value.read(rest)
        for length in range(1, len(path) + 1):
            found.setdefault(path[:length], number)
    return found


def _keys(text: str) -> tuple[Path, str]:
    """The dotted key at the beginning, and what follows it."""
    keys: list[str] = []
    place = 0
    while match := _PART.match(text, place):
        keys.append(_plain(match["key"]))
        place = match.end()
        if match["after"] != ".":
            break
    return tuple(keys), text[place:]


def _plain(key: str) -> str:
    if key[0] not in "\"'":
        return key
    (plain,) = tomllib.loads(f"{key} = 0")
    return plain


class _Value:
    """A value that is read line by line, until its brackets and long strings are closed."""

    def __init__(self) -> None:
        self._depth = 0
        self._quote = ""

    @property
    def open(self) -> bool:
        return bool(self._depth or self._quote)

    def read(self, line: str) -> None:
        place = 0
        while place < len(line):
            place = self._string(line, place) if self._quote else self._plain(line, place)
        if self._quote not in _TRIPLE:
            self._quote = ""

    def _string(self, line: str, place: int) -> int:
        if self._quote.startswith('"') and line[place] == "\\":
            return place + 2
        if line.startswith(self._quote, place):
            place += len(self._quote)
            self._quote = ""
            return place
        return place + 1

    def _plain(self, line: str, place: int) -> int:
        letter = line[place]
        if letter == "#":
            return len(line)
        if letter in "\"'":
            triple = letter * 3
            self._quote = triple if line.startswith(triple, place) else letter
            return place + len(self._quote)
        self._depth += (letter in "[{") - (letter in "]}")
        return place + 1
