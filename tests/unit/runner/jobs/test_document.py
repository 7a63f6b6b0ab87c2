"""A job in one document, and its plan before it starts."""

import json
from pathlib import Path

from tests.fakes.jobs import an_end, ended, prepared_job

from stanchion.protocol.codec import encode
from stanchion.runner.jobs.document import job_document, job_plan, plan_text
from stanchion.runner.jobs.scheduler import GaveUp
from stanchion.runner.jobs.trip import Trip


def test_the_document_has_every_attempt_the_sums_and_what_never_began(tmp_path: Path) -> None:
    end = an_end(
        ended(1),
        ended(2),
        gave_up={("hello", 3): GaveUp("no key")},
        trip=Trip(what="x refused", fix="mend"),
    )
    document = json.loads(encode(job_document(prepared_job(tmp_path), end)))

    assert [one["attempt"] for one in document["attempts"]] == [1, 2]
    assert document["summary"]["not_started"] == 1
    assert document["not_begun"] == [{"task": "hello", "attempt": 3, "why": "no key"}]
    assert (document["folder"], document["stopped"]) == (str(tmp_path), "x refused")


def test_the_plan_says_what_would_be_run(tmp_path: Path) -> None:
    plan = job_plan(prepared_job(tmp_path))
    text = plan_text(prepared_job(tmp_path))

    assert (plan.concurrency, plan.retries, plan.tasks[0].attempts) == (2, 1, 3)
    assert "1 tasks x 3 = 3 attempts, 2 at a time, retries 1" in text
    assert "opencode 1.18.33 · rehearsal/scripted-1 · profile rehearsal · effort max" in text
    assert "hello  limit launch 8000 · agent 60 s · tests 60 s · 2048 MB" in text
