"""What became of the declared answers: watched while the agent runs, frozen when it has ended.

Absent = never seen with content; lost = seen and now missing, empty or cut short (a shorter text
that is not the beginning of the one before was written anew). Never follows a link, never sends
more than the cap; what is too large is still hashed.
"""

import hashlib
import os
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from stanchion.protocol.events import AnswerFrozen, Event, FileSent, Warned
from stanchion.protocol.evidence import Answer, AnswerState
from stanchion.supervisor.regular_files import open_regular

MOST_SENT_BYTES = 16 * 1024 * 1024
PIECE_BYTES = 512 * 1024
MOST_KEPT_BYTES = 256 * 1024

Send = Callable[[Event], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class _Seen:
    stamp: tuple[int, int]
    """Size and time of change."""
    content: bytes | None
    """None where it was too large to keep."""


class Answers:
    """The declared answer paths of one attempt."""

    def __init__(self, paths: Sequence[str] | None) -> None:
        self._declared = tuple(paths) if paths is not None else None
        self._seen: dict[str, _Seen] = {}
        """The last look that found content."""
        self.paths = tuple(Path(path) for path in paths or ())

    def look(self) -> None:
        """Note what is there now."""
        for path in self._declared or ():
            try:
                file = open_regular(Path(path))
            except OSError:
                continue  # not there now; what it is at the end is what counts
            with os.fdopen(file, "rb") as stream:
                status = os.fstat(file)
                seen = self._seen.get(path)
                changed = seen is None or seen.stamp != (status.st_size, status.st_mtime_ns)
                if status.st_size and changed:
                    small = status.st_size <= MOST_KEPT_BYTES
                    self._seen[path] = _Seen(
                        stamp=(status.st_size, status.st_mtime_ns),
                        content=stream.read() if small else None,
                    )

    async def freeze(self, send: Send) -> tuple[Answer, ...] | None:
        """Decide about each one and send it out; None = none was declared."""
        if self._declared is None:
            return None
        frozen = []
        for path in self._declared:
            answer = await self._freeze_one(path, send)
            await send(AnswerFrozen(answer=answer))
            frozen.append(answer)
        return tuple(frozen)

    async def _freeze_one(self, path: str, send: Send) -> Answer:
        seen = self._seen.get(path)
        try:
            file = open_regular(Path(path))
        except FileNotFoundError:
            return Answer(path=path, state=_gone(seen))
        except OSError as error:
            await send(Warned(what="answer", detail=str(error)))
            return Answer(path=path, state=_gone(seen))
        with os.fdopen(file, "rb") as stream:
            size_bytes = os.fstat(stream.fileno()).st_size
            if size_bytes == 0 or (seen is not None and _is_cut_short(stream, size_bytes, seen)):
                return Answer(path=path, state=_gone(seen), size_bytes=size_bytes)
            sha256 = hashlib.file_digest(stream, "sha256").hexdigest()
            if size_bytes <= MOST_SENT_BYTES:
                stream.seek(0)
                await _send_pieces(path, stream.read(), sha256, send)
            else:
                detail = f"{path} has {size_bytes} bytes, more than {MOST_SENT_BYTES}: not sent"
                await send(Warned(what="answer", detail=detail))
        return Answer(path=path, state=AnswerState.PRESENT, size_bytes=size_bytes, sha256=sha256)


def _gone(seen: _Seen | None) -> AnswerState:
    return AnswerState.ABSENT if seen is None else AnswerState.LOST


def _is_cut_short(stream: BinaryIO, size_bytes: int, seen: _Seen) -> bool:
    if size_bytes >= seen.stamp[0]:
        return False
    content = stream.read() if seen.content is not None else b""
    stream.seek(0)
    return seen.content is None or seen.content.startswith(content)


async def _send_pieces(path: str, content: bytes, sha256: str, send: Send) -> None:
    for offset in range(0, len(content), PIECE_BYTES):
        piece = content[offset : offset + PIECE_BYTES]
        last = offset + len(piece) == len(content)
        await send(
            FileSent(
                purpose="answer",
                path=path,
                offset=offset,
                data=piece,
                last=last,
                sha256=sha256 if last else None,
            )
        )
