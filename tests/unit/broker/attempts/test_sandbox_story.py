from stanchion.broker.attempts.sandbox_story import MOST_CALLS, SandboxStory
from stanchion.protocol.events import (
    Claimed,
    ConfigWritten,
    HarnessEnded,
    HarnessStarted,
    IsolationChecked,
    TranscriptChanged,
    Unknown,
    VerifierEnded,
    Warned,
)
from stanchion.protocol.evidence import Claim, VerifierRun, WaitStatus
from stanchion.protocol.transcript import ItemKind, ToolUse, TranscriptItem


def run(text: str) -> VerifierRun:
    return VerifierRun(
        wait=WaitStatus(exit_code=0),
        timed_out=False,
        reward_text=text,
        reward_file="reward.txt",
        duration_ms=1,
    )


def test_a_story_is_folded_in_order() -> None:
    story = SandboxStory()
    written = ConfigWritten(
        model="m", base_url=None, output_limit=5, context=None, effort=None, files={}
    )
    for event in (
        Unknown(type="later", raw=b"{}"),
        Warned(what="w", detail="d"),
        written,
        IsolationChecked(mode="M2", checks={"a": True}),
        HarnessStarted(argv=(), uid=0),
        HarnessEnded(wait=None, namespace_empty=True),
        VerifierEnded(run=run("1")),
    ):
        story.tell(event)
    assert (story.written, story.isolation, story.checks) == (written, "M2", {"a": True})
    assert story.harness_started
    assert story.harness_ended
    assert story.verifier == run("1")
    assert story.claim is None


def test_the_claims_word_goes_before_the_events() -> None:
    story = SandboxStory()
    story.tell(VerifierEnded(run=run("1")))
    story.tell(Claimed(claim=Claim(verifier=run("0"), isolation="none")))
    assert story.verifier == run("0")
    assert story.isolation == "none"


def test_a_claim_that_is_silent_about_isolation_keeps_what_was_checked() -> None:
    story = SandboxStory()
    story.tell(IsolationChecked(mode="M2", checks={}))
    story.tell(Claimed(claim=Claim()))
    assert (story.isolation, story.verifier) == ("M2", None)


def test_each_call_of_the_conversation_counts_once_until_there_are_too_many() -> None:
    story = SandboxStory()

    def call(number: int, call_id: str | None) -> TranscriptChanged:
        tool = ToolUse(name="bash", call_id=call_id, status="running")
        item = TranscriptItem(id=str(number), session="s", kind=ItemKind.TOOL, tool=tool)
        return TranscriptChanged(item=item)

    assert not story.said_anything
    for event in (call(1, "a"), call(1, "a"), call(2, None)):
        story.tell(event)
    story.tell(TranscriptChanged(item=TranscriptItem(id="t", session="s", kind=ItemKind.TEXT)))
    assert story.saved_calls == ("a", None)
    assert story.said_anything

    for number in range(MOST_CALLS + 1):
        story.tell(call(number, "x"))
    assert story.saved_calls is None, "what was not remembered is not compared"
