"""What a parser makes of it by the tests of nodejs/llhttp (test/request/*.md, its strict mode).

The same traits on a request for our route. REFUSED: llhttp refuses it, and so must the gate.
FRAMED: llhttp takes it, and the provider sees it framed anew. NARROWER: llhttp takes it, the gate's
grammar does not. Each is checked against llhttp itself too, as httptools brings it.
"""

from security.broker.framing_cases import CHUNKED, LAST, WHOLE, Case, chunk, chunked, length
from security.broker.raw_client import BODY, REQUEST_LINE

TARGET = b"/v1/chat/completions"


def line(data: bytes) -> bytes:
    return data.replace(b"@", TARGET)


REFUSED = [
    # invalid.md
    Case("ICE with GET", (), b"", line(b"GET @ ICE/1.0")),
    Case("almost ICE", (), b"", line(b"GET @ IHTTP/1.0")),
    Case("RTSP with PUT", (), b"", line(b"PUT @ RTSP/1.0")),
    Case("HTTP with ANNOUNCE", (), b"", line(b"ANNOUNCE @ HTTP/1.0")),
    Case("an unknown method", (), b"", line(b"MKCOLA @ HTTP/1.1")),
    Case("version 5.6", (), b"", line(b"POST @ HTTP/5.6")),
    Case("fields parted by returns", (length(), b"foo: 1\rbar: 2")),
    Case("fields parted by line feeds", (b"x:x\ntransfer-encoding: chunked",), WHOLE),
    Case("empty fields parted by returns", (b"x:\rtransfer-encoding: chunked",), WHOLE),
    Case("empty fields parted by line feeds", (b"x:\ntransfer-encoding: chunked",), WHOLE),
    Case("fields that end in letters", (length(), b"host: a\r\n\rZGET /evil: HTTP/1.1")),
    Case("a sign in a field's name", (length(), b"fo@: failure")),
    Case("a control letter in a field's name", (length(), b"foo\x01test: bar")),
    Case("a field without a name", (length(), b": bar")),
    Case("a name on two lines", (length(), b"name\r\n : value")),
    Case("a broken connection field", (length(), b"connection\r\x1b\x355eep-alive")),
    Case("a broken field name", (length(), b"x-some-header\r\x1b\x355eep-alive")),
    Case("a length behind a line feed", (length(), b"dummy: x\ncontent-length: 23")),
    Case("a space behind the request line", (b" host: foo",)),
    Case("line feeds only", (CHUNKED,), chunk(BODY, end=b"\n") + b"0\n\n", end=b"\n", waits=True),
    Case("a space before a length", (b"foo: bar", b" content-length: 38")),
    # content-length.md
    Case("a length that overflows", (b"content-length: 1000000000000000000000",)),
    Case("two lengths", (b"content-length: 1", b"content-length: 2")),
    Case("a length and identity", (b"content-length: 1", b"transfer-encoding: identity")),
    Case("a space behind the length's name", (b"content-length : %d" % len(BODY),)),
    Case("a length with a space in it", (b"content-length: 4 2",)),
    Case("a length of two words", (b"content-length: 13 37",)),
    Case("a length that is empty", (b"content-length:",)),
    Case("a return for a dash", (b"content\rlength: 003",)),
    Case("a return for the empty line", (length(), b"\rabc")),
    # transfer-encoding.md
    Case("chunks that are pigeons", (b"transfer-encoding: pigeons",), b""),
    Case("identity with a length", (b"transfer-encoding: identity", length())),
    Case("empty codings with a length", (length(), *[b"transfer-encoding:"] * 3), WHOLE),
    Case("chunked, deflate", (b"transfer-encoding: chunked, deflate",)),
    Case("chunked and deflate in two", (CHUNKED, b"transfer-encoding: deflate")),
    Case("chunkedchunked", (b"transfer-encoding: chunkedchunked",), WHOLE),
    Case("a folded coding", (CHUNKED, b"  abc"), WHOLE),
    chunked("an extension without a semicolon", b"2 erfrferferf\r\naa\r\n0 rrrr\r\n\r\n"),
    chunked("nothing behind a semicolon", b"2;\r\naa\r\n0\r\n\r\n"),
    chunked("a quote that never ends", b'5;a="abc";b="def; ghi\r\nhello\r\n0\r\n\r\n'),
    chunked("no last chunk", chunk(BODY) + b"\r\n"),
    chunked("a line feed in a chunk's head", b"3 \n  \r\nfoo\r\n\r\n"),
    chunked("returns in a chunk's head", b"5\r\r;ABCD\r\n34\r\nE\r\n0\r\n\r\n"),
    chunked("a chunk without its end", b"5\r\nABCDE0\r\n\r\n"),
    chunked("a space behind a chunk's size", b"a \r\n0123456789\r\n0\r\n\r\n"),
    # connection.md, lenient-*.md
    Case("a return in the connection field", (length(), b"connection: keep\ralive")),
    Case("a space behind the connection's name", (length(), b"connection : upgrade")),
    Case("a form feed in a value", (length(), b"header1: hello\x0cworld")),
    # sample.md, uri.md, finish.md
    Case("a folded value with line feeds", (length(), b"line1:   abc\n\tdef\n ghi")),
    Case("a return behind the version", (length(),), line=REQUEST_LINE + b"\rLine: 1"),
    Case("letters beyond ASCII in the path", (), b"", "POST /δ¶/δt/pope HTTP/1.1".encode()),
    Case("HTTP/2 with prior knowledge", (), b"", b"PRI * HTTP/2.0"),
    Case("a space in the path", (), b"", b"POST /foo bar/ HTTP/1.1"),
    Case("an end within a field", (length(), b"cook"), end=b"\r", waits=True),
]  # fmt: skip

FRAMED = [
    # content-length.md
    Case("a length with zeros", (b"Content-Length: 00%d" % len(BODY),)),
    Case("a length with fields behind it", (b"Content-Length: 00%d" % len(BODY), b"Ohai: world")),
    Case("a length in funny letters", (b"conTENT-Length: %d" % len(BODY),)),
    Case("a length with spaces around", (b"Content-Length:  %d " % len(BODY),)),
    Case("a length with tabs around", (b"Content-Length:\t%d\t  " % len(BODY),)),
    # transfer-encoding.md
    Case("a small size", (CHUNKED,), chunk(BODY, b"%x" % len(BODY)) + LAST),
    Case("a size in capitals", (CHUNKED,), chunk(BODY, b"%X" % len(BODY)) + LAST),
    Case("two chunks and three zeros", (CHUNKED,),
         chunk(BODY[:9]) + chunk(BODY[9:]) + b"000\r\n\r\n"),
    Case("trailers", (CHUNKED,), chunk(BODY) + b"0\r\nVary: *\r\nContent-Type: text/plain\r\n\r\n"),
    Case("extensions", (CHUNKED,),
         chunk(BODY, b"%x;ilovew3;some=thing;another=value" % len(BODY)) + LAST),
    Case("quoted extensions", (CHUNKED,),
         chunk(BODY, b'%x;a="I \\"love\\"; \\\\ext\\\\";b="c";d;e=f' % len(BODY)) + LAST),
    # connection.md, pipelining.md
    Case("keep-alive", (length(), b"connection: keep-alive")),
    Case("close", (length(), b"connection: close")),
    Case("close and a tab", (length(), b"connection: close\t")),
    Case("many tokens", (length(), b"connection: close, token, upgrade, token, keep-alive")),
    Case("an empty line between requests", (length(),), BODY + b"\r\nGET / HTTP/1.1\r\n\r\n"),
    Case("requests in a row", (length(),), BODY + b"GET /aaa HTTP/1.1\r\n\r\n" * 3),
    # sample.md
    Case("a tab before a value", (length(), b"Header1: Value1", b"Header2:\t Value2")),
    Case("signs in a value", (length(), b"aaaaaaaaaaaaa:++++++++++")),
    Case("a browser's fields", (length(), b"Accept-Language: en-us,en;q=0.5", b"Keep-Alive: 300",
         b"Accept-Encoding: gzip,deflate", b"Accept-Charset: ISO-8859-1,utf-8;q=0.7,*;q=0.7")),
]  # fmt: skip

NARROWER = [
    Case("deflate, chunked", (b"transfer-encoding: deflate, chunked",), WHOLE),
    Case("deflate and chunked in two", (b"transfer-encoding: deflate", CHUNKED), WHOLE),
    Case("a newline before the request", (length(),), before=b"\r\n"),
    Case("no version", (), b"", line(b"GET @")),
    Case("version 1.0", (), b"", line(b"GET @ HTTP/1.0")),
    Case("letters beyond ASCII in a value", (length(), "test: Düsseldorf".encode())),
    Case("a value with the letter 255", (length(), b"header2: \xffValue2")),
    Case("quotes in the target", (), b"", b'POST /with_"lovely"_quotes?foo="bar" HTTP/1.1'),
    Case("two question marks", (), b"", b"POST /v1/messages?beta=true?baz HTTP/1.1"),
    Case("a host before the query", (), b"", b"POST http://hypnotoad.org?hail=all HTTP/1.1"),
    Case("a host and port", (), b"", b"POST http://hypnotoad.org:1234 HTTP/1.1"),
    Case("a host with a password", (), b"", b"POST http://a%12:b!&*$@hypnotoad.org:1234/ HTTP/1.1"),
    Case("a bar in the query", (), b"", line(b"POST @?query=| HTTP/1.1")),
    Case("a fragment", (), b"", line(b"POST @?page=1#posts-17408 HTTP/1.1")),
    Case("a tunnel", (), b"", b"CONNECT home_0.netscape.com:443 HTTP/1.0"),
    Case("a websocket", (length(), b"connection: upgrade", b"upgrade: ws")),
    *(
        Case(f"method {method}", (), b"", line(f"{method} @ HTTP/1.1".encode()))
        for method in ("REPORT", "PATCH", "PURGE", "SEARCH", "LINK", "UNLINK", "SOURCE", "QUERY",
                       "M-SEARCH", "OPTIONS", "TRACE", "DELETE", "PUT")
    ),
]  # fmt: skip
