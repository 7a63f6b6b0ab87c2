"""What a scripted agent of the fault matrix can do: the head of every `play.agent`.

It is source text, run in the harness's own process by `fakes.scripted_harness`. Times are those of
a real run; `minutes(15)` sleeps 15 min / SCALE.
"""

HEAD = """
import http.client, json, os, signal, subprocess, sys, threading, time
from urllib.parse import urlsplit
SETTINGS = json.load(open(os.environ["SETTINGS"]))
ANSWER = os.environ["ANSWER"]
SCALE = float(os.environ["SCALE"])
TURN = [0]
def minutes(count):
    time.sleep(count * 60 / SCALE)
def seconds(count):
    time.sleep(count / SCALE)
def request(turn=None, read=lambda response: response.read()):
    # One model request, as a harness makes it; the answer's bytes, or the error that a client sees.
    turn = TURN[0] if turn is None else turn
    messages = [{"role": "user", "content": "go"}]
    messages += [m for n in range(turn) for m in (
        {"role": "assistant", "content": str(n)}, {"role": "user", "content": "on"})]
    tools = [{"type": "function", "function": {"name": "bash", "parameters": {}}}]
    body = {"model": SETTINGS["model"], "max_tokens": SETTINGS["output_limit"], "stream": True,
            "reasoning_effort": SETTINGS["effort"], "messages": messages, "tools": tools,
            "stream_options": {"include_usage": True}}
    url = urlsplit(SETTINGS["base_url"])
    connection = http.client.HTTPConnection(url.hostname, url.port, timeout=600)
    try:
        connection.request("POST", url.path + "/v1/chat/completions", json.dumps(body),
                           {"Content-Type": "application/json"})
        response = connection.getresponse()
        return response.status, read(response)
    except (OSError, http.client.HTTPException) as error:
        return None, repr(error).encode()
    finally:
        connection.close()
def save(**what):
    print(json.dumps(what), flush=True)
def turn(reason="stop"):
    # A request and the step that a harness saves for it.
    said = request()
    TURN[0] += 1
    save(step=reason, counts=reason in ("stop", "tool-calls", "length"))
    return said
def hang_up():
    # A request whose answer has begun and is waited for no longer.
    request(read=lambda response: response.readline())
def answer(text="right"):
    with open(ANSWER, "w") as file:
        file.write(text)
def end(state="good"):
    save(end=state)
def burn(seconds_of_a_real_run):
    until = time.monotonic() + seconds_of_a_real_run / SCALE
    while time.monotonic() < until:
        sum(range(10000))
"""
