"""The checks of this folder rest on a strict reading of what comes back."""

import pytest

from security.broker.raw_client import parsed


def test_a_reply_is_parsed_strictly() -> None:
    with pytest.raises(AssertionError):
        parsed(b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 1\r\n\r\nab")
