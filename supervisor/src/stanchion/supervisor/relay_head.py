"""Rewrites the head of a model request once: the lease in, the caller's credentials out.

Pure. Everything else of the head stays as it came, byte for byte; what is not a plain HTTP/1.1
request head is not passed on at all.
"""

import re

MAX_HEAD_BYTES = 64 * 1024

_REQUEST_LINE = re.compile(rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+ [\x21-\x7e]+ HTTP/1\.[01]")
_FIELD = re.compile(rb"(?P<name>[!#$%&'*+\-.^_`|~0-9A-Za-z]+):[^\r\n\x00]*")

_OURS = frozenset(
    {b"authorization", b"x-api-key", b"x-goog-api-key", b"api-key", b"connection", b"keep-alive"}
)
_OUR_PREFIXES = (b"x-stanchion-", b"proxy-")


def rewrite(head: bytes, lease: str) -> bytes | None:
    """The head to send on, with its empty line; None = malformed."""
    if len(head) > MAX_HEAD_BYTES or not head.endswith(b"\r\n\r\n"):
        return None
    request_line, *fields = head[:-4].split(b"\r\n")
    if not _REQUEST_LINE.fullmatch(request_line):
        return None
    kept = [request_line]
    for line in fields:
        field = _FIELD.fullmatch(line)
        if field is None:  # also a folded line, which proxies read in two ways
            return None
        name = field["name"].lower()
        if name not in _OURS and not name.startswith(_OUR_PREFIXES):
            kept.append(line)
    kept += [b"Connection: close", b"x-stanchion-lease: " + lease.encode("ascii")]
    return b"\r\n".join(kept) + b"\r\n\r\n"


def constant_answer(status: str, words: str) -> bytes:
    """An answer of our own; it holds nothing of the request."""
    body = f'{{"error":{{"type":"stanchion","message":"{words}"}}}}'.encode("ascii")
    head = (
        f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    return head.encode("ascii") + body


BAD_REQUEST = constant_answer("400 Bad Request", "the request head is not valid HTTP/1.1")
UNREACHABLE = constant_answer("502 Bad Gateway", "the broker cannot be reached")
