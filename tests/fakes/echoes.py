"""How a provider may say a key back: every spelling, by means other than the broker's own."""

import base64
import html
import json
import re
import urllib.parse
from collections.abc import Callable

Spell = Callable[[str], bytes]


def base64_at(offset: int, *, urlsafe: bool = False, around: bytes = b"Bearer ") -> Spell:
    """With so many bytes before it in its group of three."""

    def spell(key: str) -> bytes:
        before = around[:offset].ljust(offset, b"x")
        encode = base64.urlsafe_b64encode if urlsafe else base64.b64encode
        return encode(before + key.encode() + b" tail")

    return spell


def base64_lines(
    end: str, offset: int = 0, *, urlsafe: bool = False, width: int = 76, column: int = 60
) -> Spell:
    """Broken into lines, the key from about this column of the first one on."""
    around = (b"Authorization: Bearer of all " * 9)[: column // 4 * 3 + offset]

    def spell(key: str) -> bytes:
        text = base64_at(len(around), urlsafe=urlsafe, around=around)(key).decode()
        return end.join(text[at : at + width] for at in range(0, len(text), width)).encode()

    return spell


LINE_ENDS = {"LF": "\n", "CRLF": "\r\n"}
ESCAPED_LINE_ENDS = {
    "json LF": "\\n",
    "json CRLF": "\\r\\n",
    "json in json LF": "\\\\n",
    "json CRLF, by number": "\\u000D\\u000a",
    "url CRLF": "%0D%0A",
}


def _lines(ends: dict[str, str]) -> dict[str, Spell]:
    return {
        f"base64{'url' * urlsafe} at {offset} in lines, {name}": base64_lines(
            end, offset, urlsafe=urlsafe
        )
        for name, end in ends.items()
        for offset in range(3)
        for urlsafe in (False, True)
    }


RAW_LINES = _lines(LINE_ENDS)
"""Not for places that are one line, such as headers."""


def _every_letter(form: str) -> Spell:
    return lambda key: "".join(form.format(ord(letter)) for letter in key).encode()


SPELLINGS: dict[str, Spell] = {
    "plain": str.encode,
    "json": lambda key: json.dumps(key)[1:-1].encode(),
    "json in json": lambda key: json.dumps(json.dumps(key)[1:-1])[1:-1].encode(),
    "json, slashes escaped": lambda key: json.dumps(key)[1:-1].replace("/", "\\/").encode(),
    "json, every letter": _every_letter("\\u{:04x}"),
    "json, every letter, upper case": _every_letter("\\u{:04X}"),
    "json in json, every letter": _every_letter("\\\\u{:04x}"),
    "json, every other letter": lambda key: "".join(
        letter if at % 2 and letter not in '"\\' else f"\\u{ord(letter):04x}"
        for at, letter in enumerate(key)
    ).encode(),
    "url": lambda key: urllib.parse.quote(key, safe="").encode(),
    "url, lower case": lambda key: (
        urllib.parse.quote(key, safe="~").lower().encode()
        if key.islower()
        else urllib.parse.quote(key, safe="").encode()
    ),
    "url, every letter": _every_letter("%{:02X}"),
    "url, every letter, lower case": _every_letter("%{:02x}"),
    "html": lambda key: html.escape(key, quote=True).replace("&#x27;", "&apos;").encode(),
    "hex": lambda key: key.encode().hex().encode(),
    "hex, upper case": lambda key: key.encode().hex().upper().encode(),
    "base64 at 0": base64_at(0),
    "base64 at 1": base64_at(1),
    "base64 at 2": base64_at(2),
    "base64 alone": lambda key: base64.b64encode(key.encode()),
    "base64url at 0": base64_at(0, urlsafe=True),
    "base64url at 1": base64_at(1, urlsafe=True),
    "base64url at 2": base64_at(2, urlsafe=True),
    "base64url alone, no padding": lambda key: base64.urlsafe_b64encode(key.encode()).rstrip(b"="),
    "base64 in url": lambda key: urllib.parse.quote(
        base64.b64encode(key.encode()).decode(), safe=""
    ).encode(),
    "base64 in json, slashes escaped": lambda key: base64.b64encode(key.encode()).replace(
        b"/", b"\\/"
    ),
    **_lines(ESCAPED_LINE_ENDS),
}


def _decodings(data: bytes) -> list[bytes]:
    """What a reader may make of the bytes, by the standard library's decoders."""
    text = data.decode("utf-8", "replace")
    found = [data, urllib.parse.unquote_to_bytes(text), html.unescape(text).encode()]
    escaped = text
    for _ in range(3):  # JSON within JSON within JSON
        escaped = _unescaped(escaped)
        found.append(escaped.encode("utf-8", "surrogatepass"))
    return found


_ESCAPE = re.compile(r'\\(?:u(?P<code>[0-9a-fA-F]{4})|(?P<short>["\\/rn]))')
_SHORT = {"r": "\r", "n": "\n"}


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(
        lambda m: chr(int(m["code"], 16)) if m["code"] else _SHORT.get(m["short"], m["short"]), text
    )


def shows(data: bytes, key: str) -> bool:
    """Whether somebody who decodes the bytes in any of the ways above finds the key."""
    secret = key.encode()
    forms = _decodings(data)
    if any(secret in form for form in forms):
        return True
    if any(secret.hex().encode() in form.lower() for form in forms):
        return True
    cores = [base64.b64encode(b"x" * at + secret) for at in range(3)]
    cores = [core[4 if at else 0 : len(core) // 4 * 4 - 4] for at, core in enumerate(cores)]
    forms = [form.replace(b"-", b"+").replace(b"_", b"/") for form in forms]
    forms += [form.replace(b"\r", b"").replace(b"\n", b"") for form in forms]
    return any(core in form for core in cores for form in forms)
