"""A coding agent in one page: asks a model over OpenAI's chat API and runs the commands it wants.

Standard library only. Exits 0 once the model answers without a command, 1 where it does not.
"""

import argparse
import json
import os
import subprocess
import sys
import urllib.request

SHELL = {
    "type": "function",
    "function": {
        "name": "bash",
        "description": "Run a shell command and see what it prints.",
        "parameters": {
            "type": "object",
            "properties": {"command": {"type": "string"}},
            "required": ["command"],
        },
    },
}
MOST_TURNS = 50


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", required=True)
    parser.add_argument("--max-tokens", type=int, required=True)
    parser.add_argument("--effort")
    options = parser.parse_args()
    request = {"model": options.model, "max_tokens": options.max_tokens, "tools": [SHELL]}
    if options.effort is not None:
        request["reasoning_effort"] = options.effort
    messages = [{"role": "user", "content": sys.stdin.read()}]
    for _ in range(MOST_TURNS):
        choice = ask({**request, "messages": messages})
        message = choice["message"]
        messages.append(message)
        if not message.get("tool_calls"):
            print(message.get("content") or "")
            return 0 if choice["finish_reason"] == "stop" and message.get("content") else 1
        messages += [run(call) for call in message["tool_calls"]]
    return 1


def ask(request: dict) -> dict:
    """The model's next message."""
    sent = urllib.request.Request(
        os.environ["OPENAI_BASE_URL"] + "/chat/completions",
        data=json.dumps(request).encode(),
        headers={
            "Authorization": "Bearer " + os.environ["OPENAI_API_KEY"],
            "Content-Type": "application/json",
        },
    )
    with urllib.request.urlopen(sent, timeout=600) as answer:
        return json.load(answer)["choices"][0]


def run(call: dict) -> dict:
    """What a command printed, as the message that answers its call."""
    command = json.loads(call["function"]["arguments"])["command"]
    done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, timeout=600)
    content = done.stdout + done.stderr + f"\n[exit {done.returncode}]"
    return {"role": "tool", "tool_call_id": call["id"], "content": content}


sys.exit(main())
