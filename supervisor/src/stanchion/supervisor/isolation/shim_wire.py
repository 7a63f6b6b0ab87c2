"""What passes between the supervisor and a shim over their private socket.

Supervisor to shim: one order, then `go`. Shim to supervisor: JSON lines. The order is a list of
NUL-terminated fields, because decoding JSON in the shim would cost 30 ms of imports in gVisor.
Pure; standard library only.
"""

GO = b"go\n"


class WireError(ValueError):
    """The bytes are not an order."""


class Order:
    """What a shim is told. A plain class: `dataclasses` costs 30 ms to import in gVisor."""

    __slots__ = ("argv", "cwd", "env", "hidden", "isolated", "pinned", "sockets", "uid")

    def __init__(
        self,
        *,
        argv: tuple[str, ...],
        env: dict[str, str],
        cwd: str,
        uid: int,
        isolated: bool,
        hidden: tuple[str, ...] = (),
        pinned: tuple[str, ...] = (),
        sockets: tuple[str, ...] = (),
    ) -> None:
        self.argv = argv
        self.env = env
        self.cwd = cwd
        self.uid = uid
        self.isolated = isolated
        self.hidden = hidden
        self.pinned = pinned
        """Folders that must stay where they are, so that their paths stay the supervisor's."""
        self.sockets = sockets
        """Sockets below hidden folders, which must have become unreachable."""


def encode_order(order: Order) -> bytes:
    """One line with the length, then the fields."""
    pairs = [part for pair in order.env.items() for part in pair]
    fields = [str(int(order.isolated)), str(order.uid), order.cwd]
    for group in (order.argv, pairs, order.hidden, order.pinned, order.sockets):
        fields += [str(len(group)), *group]
    if any("\0" in field for field in fields):
        raise WireError("an argument, variable or path holds a NUL character, which no exec takes")
    body = b"".join(field.encode("utf-8", "surrogateescape") + b"\0" for field in fields)
    return b"%d\n" % len(body) + body


def decode_order(body: bytes) -> Order:
    """The fields after the length line."""
    fields = iter(body.decode("utf-8", "surrogateescape").split("\0"))

    def group() -> tuple[str, ...]:
        return tuple(next(fields) for _ in range(int(next(fields))))

    try:
        isolated, uid, cwd = int(next(fields)) == 1, int(next(fields)), next(fields)
        argv, pairs = group(), group()
        hidden, pinned, sockets = group(), group(), group()
    except (ValueError, RuntimeError, StopIteration) as broken:
        raise WireError(f"the order is not complete: {broken!r}") from broken
    return Order(
        argv=argv,
        env=dict(zip(pairs[::2], pairs[1::2], strict=True)),
        cwd=cwd,
        uid=uid,
        isolated=isolated,
        hidden=hidden,
        pinned=pinned,
        sockets=sockets,
    )


def encode_report(kind: str, **fields: int | str | dict[str, bool]) -> bytes:
    """One JSON line, tagged with its kind."""
    members = {"type": kind, **fields}
    return (_json(members) + "\n").encode("ascii")


def _json(value: object) -> str:
    if isinstance(value, dict):
        members = ",".join(f"{_json(str(name))}:{_json(item)}" for name, item in value.items())
        return f"{{{members}}}"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    characters = "".join(map(_escaped, str(value)))
    return f'"{characters}"'


def _escaped(character: str) -> str:
    if character in '"\\':
        return f"\\{character}"
    if " " <= character <= "~":
        return character
    code = ord(character)
    # Beyond the basic plane JSON wants surrogate pairs; a question mark says enough in a report.
    return f"\\u{code:04x}" if code < 0xD800 else "?"
