"""Requests whose beginning or end two readers could see in different places.

Each is what follows the lease in a request head, with its body. REFUSED ones must never reach the
provider; ACCEPTED ones reach it as one request that is framed anew, with just this body.
"""

from dataclasses import dataclass

from security.broker.raw_client import BODY, REQUEST_LINE

SECOND = (
    b"POST /v1/chat/completions HTTP/1.1\r\nx-stanchion-lease: @LEASE@\r\n"
    b"content-length: %d\r\n\r\n%b" % (len(BODY), BODY)
)
"""Another request, for who reads on behind the first."""


def length(body: bytes = BODY) -> bytes:
    return b"content-length: %d" % len(body)


CHUNKED = b"transfer-encoding: chunked"
HALF = len(BODY) // 2


def chunk(data: bytes, size: bytes | None = None, *, end: bytes = b"\r\n") -> bytes:
    return (b"%x" % len(data) if size is None else size) + end + data + end


LAST = b"0\r\n\r\n"
WHOLE = chunk(BODY) + LAST


@dataclass(frozen=True)
class Case:
    """@LEASE@ in its bytes stands for the lease."""

    name: str
    fields: tuple[bytes, ...] = ()
    body: bytes = BODY
    line: bytes = REQUEST_LINE
    before: bytes = b""
    end: bytes = b"\r\n"
    waits: bool = False
    """Whether a reader of its framing waits for more, so that only its end shows the refusal."""


def chunked(name: str, body: bytes, *, waits: bool = False) -> Case:
    return Case(name, (CHUNKED,), body, waits=waits)


REFUSED = [
    # Two lengths, or one that readers take for different numbers.
    Case("length twice the same", (length(), length())),
    Case("length twice different", (b"content-length: 1", length())),
    Case("length as a list", (b"content-length: %d, %d" % (len(BODY), len(BODY)),)),
    Case("length with a plus", (b"content-length: +%d" % len(BODY),)),
    Case("length with a minus", (b"content-length: -%d" % len(BODY),)),
    Case("length in hexadecimal", (b"content-length: 0x%x" % len(BODY),)),
    Case("length with an exponent", (b"content-length: 1e2",)),
    Case("length with a fraction", (b"content-length: %d.0" % len(BODY),)),
    Case("length with an underscore", (b"content-length: 1_0",)),
    Case("length with a parameter", (b"content-length: %d;a=b" % len(BODY),)),
    Case("length in quotes", (b'content-length: "%d"' % len(BODY),)),
    Case("length of two numbers", (b"content-length: %d 5" % len(BODY),)),
    Case("length without a number", (b"content-length:",)),
    Case("length of other digits", ("content-length: \u0665".encode(),)),
    Case("length beyond 64 bits", (b"content-length: 18446744073709551622",)),
    Case("length beyond any limit", (b"content-length: 99999999999",)),
    Case("space before the length's colon", (b"content-length : %d" % len(BODY),)),
    Case("tab before the length's colon", (b"content-length\t: %d" % len(BODY),)),
    Case("NUL in the length's name", (b"content-length\x00: %d" % len(BODY),)),
    Case("NUL behind the length", (length() + b"\x00",)),
    Case("vertical tab before the length", (b"content-length:\x0b%d" % len(BODY),)),
    Case("folded length", (b"content-length:\r\n %d" % len(BODY),)),
    Case("length that ends in the middle", (b"content-length: %d" % HALF,)),
    Case("length that ends behind the body", (length(BODY * 2),), waits=True),
    Case("length of nothing before a body", (b"content-length: 0",)),
    Case("body without a length", ()),
    # Length and transfer coding.
    Case("length, then chunked", (length(), CHUNKED), WHOLE),
    Case("chunked, then length", (CHUNKED, length()), WHOLE),
    Case("chunked with a length of zero", (b"content-length: 0", CHUNKED), WHOLE),
    Case("length behind a coding of nothing", (b"transfer-encoding:", length())),
    Case("length and identity", (b"transfer-encoding: identity", length())),
    # A transfer coding that some readers see and others do not.
    Case("chunked twice in two lines", (CHUNKED, CHUNKED), WHOLE),
    Case("chunked twice in one line", (b"transfer-encoding: chunked, chunked",), WHOLE),
    Case("chunked behind gzip", (b"transfer-encoding: gzip, chunked",), WHOLE),
    Case("chunked before gzip", (b"transfer-encoding: chunked, gzip",), WHOLE),
    Case("chunked before identity", (CHUNKED, b"transfer-encoding: identity"), WHOLE),
    Case("identity alone", (b"transfer-encoding: identity",)),
    Case("an unknown coding", (b"transfer-encoding: xchunked",), WHOLE),
    Case("chunked with a parameter", (b"transfer-encoding: chunked;q=1",), WHOLE),
    Case("chunked with a comma", (b"transfer-encoding: chunked,",), WHOLE),
    Case("chunked behind a comma", (b"transfer-encoding: ,chunked",), WHOLE),
    Case("chunked in quotes", (b'transfer-encoding: "chunked"',), WHOLE),
    Case("chunked behind a vertical tab", (b"transfer-encoding: \x0bchunked",), WHOLE),
    Case("chunked before a form feed", (b"transfer-encoding: chunked\x0c",), WHOLE),
    Case("chunked before a NUL", (b"transfer-encoding: chunked\x00",), WHOLE),
    Case("chunked before a no-break space", (b"transfer-encoding: chunked\xa0",), WHOLE),
    Case("space before the coding's colon", (b"transfer-encoding : chunked",), WHOLE),
    Case("space before the coding's name", (length(), b" transfer-encoding: chunked"), WHOLE),
    Case("folded coding", (b"transfer-encoding:\r\n chunked",), WHOLE),
    Case("coding behind a bare line feed", (length(), b"x: y\ntransfer-encoding: chunked"), WHOLE),
    Case("coding behind a bare return", (length(), b"x: y\rtransfer-encoding: chunked"), WHOLE),
    Case("coding behind an empty name", (length(), b":transfer-encoding: chunked"), WHOLE),
    Case("coding with a NUL in its name", (length(), b"transfer\x00encoding: chunked"), WHOLE),
    Case("coding with a soft hyphen", (length(), b"transfer\xc2\xadencoding: chunked"), WHOLE),
    Case("chunked in HTTP/1.0", (CHUNKED,), WHOLE, b"POST /v1/chat/completions HTTP/1.0"),
    # Chunks.
    chunked("chunk of a negative size", chunk(BODY, b"-%x" % len(BODY)) + LAST),
    chunked("chunk size with a plus", chunk(BODY, b"+%x" % len(BODY)) + LAST),
    chunked("chunk size with 0x", chunk(BODY, b"0x%x" % len(BODY)) + LAST),
    chunked("chunk size with an underscore", chunk(BODY, b"4_4") + LAST),
    chunked("space before a chunk size", chunk(BODY, b" %x" % len(BODY)) + LAST),
    chunked("space behind a chunk size", chunk(BODY, b"%x " % len(BODY)) + LAST),
    chunked("tab behind a chunk size", chunk(BODY, b"%x\t" % len(BODY)) + LAST),
    chunked("chunk size of other letters", chunk(BODY, b"zz") + LAST),
    chunked("chunk without a size", chunk(BODY, b"") + LAST),
    chunked("extension without a size", chunk(BODY, b";a") + LAST),
    chunked("chunk size beyond 64 bits", chunk(BODY, b"10000000000000044") + LAST),
    chunked("chunk size of all ones", chunk(BODY, b"ffffffffffffffff") + LAST, waits=True),
    chunked("line feeds around a chunk", chunk(BODY, end=b"\n") + b"0\n\n"),
    chunked("line feed behind a chunk size", b"%x\n%b\r\n" % (len(BODY), BODY) + LAST),
    chunked("line feed behind a chunk", b"%x\r\n%b\n" % (len(BODY), BODY) + LAST),
    chunked("return behind a chunk size", b"%x\r%b\r\n" % (len(BODY), BODY) + LAST),
    chunked("return, return behind a chunk size", b"%x\r\r\n%b\r\n" % (len(BODY), BODY) + LAST),
    chunked("nothing behind a chunk", b"%x\r\n%b" % (len(BODY), BODY) + LAST),
    chunked("chunk longer than its size", chunk(BODY, b"%x" % HALF) + LAST),
    chunked("chunk shorter than its size", chunk(BODY, b"%x" % (len(BODY) + 9)) + LAST, waits=True),
    chunked("no last chunk", chunk(BODY), waits=True),
    chunked("last chunk without its end", chunk(BODY) + b"0\r\n", waits=True),
    chunked("line feed behind the last chunk", chunk(BODY) + b"0\n\r\n"),
    chunked("line feed within an extension", chunk(BODY, b"%x;a\nb" % len(BODY)) + LAST),
    chunked("return within an extension", chunk(BODY, b"%x;a\rb" % len(BODY)) + LAST),
    chunked("NUL within an extension", chunk(BODY, b"%x;a\x00" % len(BODY)) + LAST),
    chunked("line feed within a quoted extension", chunk(BODY, b'%x;a="\n"' % len(BODY)) + LAST),
    chunked("trailer without a colon", chunk(BODY) + b"0\r\nnothing\r\n\r\n"),
    chunked("trailer behind a bare line feed", chunk(BODY) + b"0\r\na: b\nc: d\r\n\r\n"),
    chunked("trailer that frames", chunk(BODY) + b"0\r\ncontent-length: 5\r\n\r\n"),
    chunked("trailer with a space in its name", chunk(BODY) + b"0\r\na b: c\r\n\r\n"),
    # Request lines and heads that begin or end elsewhere.
    Case("empty line before the request", (length(),), before=b"\r\n"),
    Case("line feed before the request", (length(),), before=b"\n"),
    Case("space before the request", (length(),), before=b" "),
    Case("line feeds only", (length(),), end=b"\n", waits=True),
    Case("returns only", (length(),), end=b"\r", waits=True),
    Case("two spaces in the request line", (length(),), line=REQUEST_LINE.replace(b" /", b"  /")),
    Case("tabs in the request line", (length(),), line=b"POST\t/v1/chat/completions\tHTTP/1.1"),
    Case("words behind the version", (length(),), line=REQUEST_LINE + b" x"),
    Case("no version", (length(),), line=b"POST /v1/chat/completions"),
    Case("version 0.9", (length(),), line=b"POST /v1/chat/completions HTTP/0.9"),
    Case("version 1.0", (length(),), line=b"POST /v1/chat/completions HTTP/1.0"),
    Case("version 1.10", (length(),), line=b"POST /v1/chat/completions HTTP/1.10"),
    Case("version 2.0", (length(),), line=b"POST /v1/chat/completions HTTP/2.0"),
    Case("version in small letters", (length(),), line=b"POST /v1/chat/completions http/1.1"),
    Case("method in small letters", (length(),), line=b"post /v1/chat/completions HTTP/1.1"),
    Case("method with a NUL", (length(),), line=b"PO\x00ST /v1/chat/completions HTTP/1.1"),
    Case("target with a line feed", (length(),), line=b"POST /v1/chat/completions\n HTTP/1.1"),
    Case("target with a NUL", (length(),), line=b"POST /v1/chat/completions\x00 HTTP/1.1"),
    Case("HTTP/2 with prior knowledge", (), b"SM\r\n\r\n", b"PRI * HTTP/2.0"),
    Case("upgrade to h2c", (length(), b"connection: upgrade", b"upgrade: h2c")),
    Case("upgrade to websocket", (length(), b"connection: upgrade", b"upgrade: websocket")),
    Case("a tunnel", (), b"", b"CONNECT 127.0.0.1:443 HTTP/1.1"),
    Case("an expectation of something else", (length(), b"expect: 200-ok")),
    Case("two expectations", (length(), b"expect: 100-continue", b"expect: 100-continue")),
    # Fields.
    Case("folded field", (length(), b"x: a", b" b")),
    Case("folded first field", (b" x: a", length())),
    Case("field without a colon", (length(), b"nothing")),
    Case("field without a name", (length(), b": x")),
    Case("space in a name", (length(), b"a b: c")),
    Case("sign in a name", (length(), b"fo@: x")),
    Case("control letter in a name", (length(), b"fo\x01o: x")),
    Case("other letter in a name", (length(), "f\u00f6o: x".encode())),
    Case("NUL in a value", (length(), b"x: a\x00b")),
    Case("return in a value", (length(), b"x: a\rb")),
    Case("line feed in a value", (length(), b"x: a\nb")),
    Case("escape in a value", (length(), b"x: \x1b[2J")),
    Case("delete in a value", (length(), b"x: \x7f")),
    Case("other letters in a value", (length(), "x: \u00e9".encode())),
    Case("the lease twice", (length(), b"x-stanchion-lease: @LEASE@")),
    Case("the lease again in capitals", (length(), b"X-STANCHION-LEASE: @LEASE@")),
]  # fmt: skip

ACCEPTED = [
    Case("length with spaces around it", (b"content-length:   %d  " % len(BODY),)),
    Case("length with tabs around it", (b"content-length:\t%d\t" % len(BODY),)),
    Case("length with zeros before it", (b"content-length: 000%d" % len(BODY),)),
    Case("length in capitals", (b"CONTENT-LENGTH: %d" % len(BODY),)),
    Case("length with an underscore in a name beside it", (length(), b"content_length: 5")),
    Case("coding with an underscore in its name", (length(), b"transfer_encoding: chunked")),
    Case("one chunk", (CHUNKED,), WHOLE),
    Case("two chunks", (CHUNKED,), chunk(BODY[:HALF]) + chunk(BODY[HALF:]) + LAST),
    Case("a byte a chunk", (CHUNKED,), b"".join(chunk(bytes([x])) for x in BODY) + LAST),
    Case("chunk size in capitals", (CHUNKED,), chunk(BODY, b"%X" % len(BODY)) + LAST),
    Case("chunk size with zeros before it", (CHUNKED,), chunk(BODY, b"0000%x" % len(BODY)) + LAST),
    Case("last chunk of many zeros", (CHUNKED,), chunk(BODY) + b"00000\r\n\r\n"),
    Case("extensions", (CHUNKED,), chunk(BODY, b'%x;a;b=c;d="e;f"' % len(BODY)) + LAST),
    Case("extension of the last chunk", (CHUNKED,), chunk(BODY) + b"0;a=b\r\n\r\n"),
    Case("trailers", (CHUNKED,), chunk(BODY) + b"0\r\nvary: *\r\ncontent-type: a/b\r\n\r\n"),
    Case("trailers that name another host", (CHUNKED,),
         chunk(BODY) + b"0\r\nhost: evil.example\r\nx-forwarded-host: evil.example\r\n\r\n"),
    Case("trailers that pay", (CHUNKED,),
         chunk(BODY) + b"0\r\nauthorization: Bearer sk-x\r\nx-stanchion-lease: @LEASE@\r\n\r\n"),
    Case("coding behind a tab", (b"transfer-encoding:\tchunked",), WHOLE),
    Case("a request behind the body", (length(),), BODY + SECOND),
    Case("a request behind the last chunk", (CHUNKED,), WHOLE + SECOND),
    Case("a request behind a connection that ends",
         (length(), b"connection: close"), BODY + SECOND),
    Case("a request behind a connection that goes on",
         (length(), b"connection: keep-alive"), BODY + SECOND),
    Case("garbage behind the body", (length(),), BODY + b"\x00\xff\r\n"),
    Case("a tunnel behind the body", (length(),), BODY + b"CONNECT a:1 HTTP/1.1\r\n\r\n"),
    Case("an expectation", (length(), b"expect: 100-continue")),
    Case("an expectation before chunks", (CHUNKED, b"expect: 100-continue"), WHOLE),
    Case("hop-by-hop fields", (length(), b"keep-alive: timeout=5", b"te: trailers",
         b"proxy-authorization: Basic eA==", b"proxy-connection: keep-alive", b"trailer: a")),
    Case("a length for this hop only", (length(), b"connection: close, content-length")),
    Case("a session for this hop only", (length(), b"connection: x-session-id",
         b"x-session-id: ses_1")),
    Case("another method in a field", (length(), b"x-http-method-override: DELETE",
         b"x-method-override: GET")),
    Case("another address in a field", (length(), b"host: evil.example", b"host: b.example",
         b"x-forwarded-host: evil.example", b"x-original-url: /v1/files", b"x-rewrite-url: /x",
         b"forwarded: host=evil.example")),
    Case("no host", (length(),)),
]  # fmt: skip
