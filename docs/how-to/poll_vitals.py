"""Prints each event in the life of every attempt as a JSON line.

usage: poll_vitals.py [SOCKET]
"""

import http.client
import json
import socket
import sys
import time

SOCKET = sys.argv[1] if len(sys.argv) > 1 else "/var/lib/stanchion/broker/admin.sock"


def ask(path: str) -> tuple[int, dict]:
    """Status and body, by HTTP over the broker's Unix socket."""
    connection = http.client.HTTPConnection("broker")
    with socket.socket(socket.AF_UNIX) as connection.sock:
        connection.sock.settimeout(60)
        connection.sock.connect(SOCKET)
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, json.load(answer)


cursor = None
while True:
    try:
        status, page = ask("/v1/vitals" + (f"?after={cursor}&wait=25" if cursor else ""))
    except (OSError, http.client.HTTPException, ValueError):  # away, or gone in mid-answer
        status, page = 503, {}
    if status == 200:
        for entry in page["entries"]:
            sys.stdout.write(json.dumps(entry) + "\n")
        sys.stdout.flush()
        cursor = page["cursor"] if cursor else page["oldest"]
    elif status == 410:  # what came next is not kept any more: start again with what is
        cursor = None
    else:
        time.sleep(1)
