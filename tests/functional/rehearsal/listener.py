"""What a patient client makes of an answer in any dialect, however broken it is.

Reads event streams as the HTML standard tells it and shares no code with what it listens to.
"""

import json
from dataclasses import dataclass, field
from typing import Any

from functional.rehearsal.raw_client import Received


@dataclass
class Heard:
    """Everything that could be made out."""

    reasoning: str = ""
    texts: list[str] = field(default_factory=list)
    finish: str | None = None
    usage: dict[str, Any] | None = None
    error: dict[str, Any] | None = None
    done: bool = False
    events: int = 0
    comments: int = 0
    unreadable: list[str] = field(default_factory=list)
    """Data that is no JSON, lines that are no field, and what stands after the last event."""

    @property
    def text(self) -> str:
        return "".join(self.texts)


def listen(received: Received) -> Heard:
    heard = Heard()
    if received.headers.get("content-type", "").startswith("text/event-stream"):
        _stream(received.entity.decode(), heard)
    else:
        _document(received.entity.decode(), heard)
    return heard


def _stream(text: str, heard: Heard) -> None:
    data: list[str] = []
    *lines, last = text.split("\n")
    for line in lines:
        name, colon, value = line.partition(":")
        if not line and data:
            heard.events += 1
            _event("\n".join(data), heard)
            data = []
        elif line.startswith(":"):
            heard.comments += 1
        elif name == "data":
            data.append(value.removeprefix(" "))
        elif line and not (colon and name == "event"):
            heard.unreadable.append(line)
    heard.unreadable += [*data, *([last] if last else [])]


def _event(data: str, heard: Heard) -> None:
    if data == "[DONE]":
        heard.done = True
        return
    try:
        event = json.loads(data)
    except json.JSONDecodeError:
        heard.unreadable.append(data)
        return
    heard.error = event.get("error") or heard.error
    if str(event.get("type")).startswith("response."):
        _responses_event(event, heard)
        return
    if "type" in event:
        _anthropic_event(event, heard)
        return
    if "candidates" in event:
        _gemini(event, heard)
        heard.done = heard.finish is not None
        return
    heard.usage = event.get("usage") or heard.usage
    for choice in event.get("choices", ()):
        heard.reasoning += choice["delta"].get("reasoning_content") or ""
        heard.texts += [choice["delta"].get("content") or ""]
        heard.finish = choice["finish_reason"] or heard.finish


def _anthropic_event(event: dict[str, Any], heard: Heard) -> None:
    delta = event.get("delta", {})
    heard.done = heard.done or event["type"] == "message_stop"
    heard.usage = event.get("usage") or event.get("message", {}).get("usage") or heard.usage
    heard.reasoning += delta.get("thinking", "")
    heard.texts += [delta.get("text", "")]
    heard.finish = delta.get("stop_reason") or heard.finish


def _responses_event(event: dict[str, Any], heard: Heard) -> None:
    kind = event["type"]
    if kind == "response.output_text.delta":
        heard.texts += [event["delta"]]
    elif kind == "response.reasoning_summary_text.delta":
        heard.reasoning += event["delta"]
    elif kind in {"response.completed", "response.incomplete", "response.failed"}:
        heard.done = True
        _response(event["response"], heard)


def _response(response: dict[str, Any], heard: Heard) -> None:
    heard.usage = response["usage"] or heard.usage
    reason = response["incomplete_details"]
    heard.finish = reason["reason"] if reason else response["status"]


def _gemini(response: dict[str, Any], heard: Heard) -> None:
    heard.usage = response.get("usageMetadata") or heard.usage
    for candidate in response["candidates"]:
        heard.finish = candidate.get("finishReason") or heard.finish
        for part in candidate["content"]["parts"]:
            if part.get("thought"):
                heard.reasoning += part["text"]
            else:
                heard.texts += [part.get("text", "")]


def _document(text: str, heard: Heard) -> None:
    try:
        document = json.loads(text)
    except json.JSONDecodeError:
        heard.unreadable.append(text)
        return
    heard.error = document.get("error")
    heard.usage = document.get("usage")
    for choice in document.get("choices", ()):
        heard.reasoning += choice["message"].get("reasoning_content") or ""
        heard.texts += [choice["message"]["content"] or ""]
        heard.finish = choice["finish_reason"]
    for block in document.get("content", ()):
        heard.reasoning += block.get("thinking", "")
        heard.texts += [block.get("text", "")]
    heard.finish = document.get("stop_reason", heard.finish)
    if "candidates" in document:
        _gemini(document, heard)
    if document.get("object") == "response":
        _response(document, heard)
    for item in document.get("output", ()):
        heard.reasoning += "".join(part["text"] for part in item.get("summary", ()))
        heard.texts += [part["text"] for part in item.get("content", ())]
