"""Folds mini-swe-agent's trajectory into steps and transcript, and says how it ended.

Decides which responses may count as progress and whether the end can be trusted: exit 0 also
follows three answers that it could not use. It must never raise on what it reads.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec

from stanchion.harness_adapters.base import Saved
from stanchion.harness_adapters.mini_swe_agent import trajectory
from stanchion.harness_adapters.mini_swe_agent.trajectory import Message, Response, Tokens
from stanchion.protocol.events import StepSaved
from stanchion.protocol.evidence import SessionEnd, SessionState
from stanchion.protocol.transcript import ItemKind, ToolUse, TranscriptItem
from stanchion.protocol.usage import Usage

SESSION = "mini-swe-agent"
SUBMITTED = "Submitted"
REPEATED = "RepeatedFormatError"
CUT = "length"
UNKNOWN = "unknown"
_MOST_DETAIL = 400


@dataclass(slots=True)
class MiniSweAgentSession:
    """Reader of one run: there is one conversation."""

    _seen: int = 0
    _counted: int = 0
    _calls: dict[str, ToolUse] = field(default_factory=dict)
    _exit: str | None = None
    _error: str | None = None
    _unusable: Response | None = None
    """The last response, where it could not be used."""

    def rows(self, rows: Sequence[Sequence[object]]) -> list[Saved]:
        """The file as it is now; what was seen before stands as it was seen."""
        saved: list[Saved] = []
        for row in rows:
            found = trajectory.messages(row[0]) if row else None
            for raw in (found or ())[self._seen :]:
                self._seen += 1
                message = trajectory.message(raw)
                if message is not None:
                    saved += self._message(str(self._seen), message)
        return saved

    def output(self, line: bytes) -> list[Saved]:  # noqa: ARG002 - words for people
        """Nothing."""
        return []

    def end(self) -> SessionEnd:
        """How the session stands now."""
        state, detail = self._judge()
        return SessionEnd(state=state, detail=detail, steps=self._counted if self._seen else None)

    def _judge(self) -> tuple[SessionState, str | None]:
        if not self._exit:
            why = "its trajectory has no end" if self._seen else "it saved no trajectory"
            return SessionState.MID_TURN, why
        if self._exit == SUBMITTED:
            return SessionState.GOOD, None
        if self._exit != REPEATED or self._unusable is None:
            return SessionState.ERROR, f"{self._exit}: {self._error or 'no words'}"[:_MOST_DETAIL]
        return _judge_unusable(self._unusable)

    def _message(self, name: str, message: Message) -> list[Saved]:
        extra = message.extra
        if message.role == "exit":
            return self._ended(name, message)
        response = extra.response if isinstance(extra.response, Response) else None
        if message.role == "assistant":
            self._unusable = None
            return self._answer(name, message, response)
        if message.role == "tool":
            return self._result(message.tool_call_id or "", message)
        if message.role != "user":
            return []
        saved: list[Saved] = []
        if extra.response is not None:
            # What it says to a response without a command that it could run.
            self._unusable = response or Response()
            said = self._unusable.choices[0].message if self._unusable.choices else None
            saved += self._parts(name, said or Message())
            saved += self._step(f"{name}:answer", message, self._unusable, counts=False)
        return [*saved, self._item(name, ItemKind.USER, message, text=message.text)]

    def _ended(self, name: str, message: Message) -> list[Saved]:
        extra = message.extra
        self._exit, self._error = extra.exit_status, extra.exception_str
        if self._exit != SUBMITTED:
            text = extra.exception_str or self._exit
            return [self._item(name, ItemKind.ERROR, message, text=text)]
        # The command that submits gets no result of its own.
        return [
            saved
            for call, use in list(self._calls.items())
            if use.status == "running"
            for saved in self._result(call, message)
        ]

    def _answer(self, name: str, message: Message, response: Response | None) -> list[Saved]:
        saved = self._parts(name, message)
        for call in message.tool_calls or ():
            if call.id is None or call.function.name is None:
                continue
            use = ToolUse(
                name=call.function.name,
                call_id=call.id,
                status="running",
                arguments=call.function.arguments or "",
            )
            self._calls[call.id] = use
            saved.append(self._item(call.id, ItemKind.TOOL, message, tool=use))
        counts = bool(message.extra.actions)
        return saved + self._step(name, message, response or Response(), counts=counts)

    def _parts(self, name: str, message: Message) -> list[Saved]:
        texts = {
            ItemKind.REASONING: message.reasoning_content or "",
            ItemKind.TEXT: message.text,
        }
        return [
            self._item(f"{name}:{kind}", kind, message, text=text)
            for kind, text in texts.items()
            if text.strip()
        ]

    def _result(self, call: str, message: Message) -> list[Saved]:
        known = self._calls.get(call)
        if known is None:
            return []
        use = msgspec.structs.replace(known, status="completed", output=message.text)
        self._calls[call] = use
        return [self._item(call, ItemKind.TOOL, message, tool=use)]

    def _step(
        self, name: str, message: Message, response: Response, *, counts: bool
    ) -> list[Saved]:
        self._counted += counts
        step, reason = response.id or name, response.finish or UNKNOWN
        ended = self._item(f"{name}:end", ItemKind.STEP_END, message)
        ended = msgspec.structs.replace(ended, finish=reason, usage=_usage(response.usage))
        return [ended, StepSaved(session=SESSION, id=step, reason=reason, counts=counts)]

    def _item(
        self,
        name: str,
        kind: ItemKind,
        message: Message,
        *,
        text: str | None = None,
        tool: ToolUse | None = None,
    ) -> TranscriptItem:
        return TranscriptItem(
            id=name, session=SESSION, kind=kind, at_ms=message.extra.at_ms, text=text, tool=tool
        )


def _judge_unusable(last: Response) -> tuple[SessionState, str | None]:
    if last.finish == CUT:
        return SessionState.LENGTH, "the last responses were cut at their output limit"
    if last.is_empty:
        return SessionState.EMPTY, "the last responses had neither text nor a command"
    return SessionState.ERROR, "the last responses had no command that it could run"


def _usage(tokens: Tokens | None) -> Usage | None:
    """As the provider counts; 0 may mean that nothing was reported, so 0 is unknown."""
    if tokens is None or not (tokens.prompt_tokens or tokens.completion_tokens):
        return None
    came, went = tokens.prompt_tokens_details, tokens.completion_tokens_details
    return Usage(
        input_tokens=tokens.prompt_tokens or None,
        output_tokens=tokens.completion_tokens or None,
        reasoning_tokens=None if went is None else went.reasoning_tokens or None,
        cache_read_tokens=None if came is None else came.cached_tokens or None,
    )
