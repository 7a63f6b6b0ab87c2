"""The closed lists: how an attempt can end, and what each ending means for its score."""

from enum import StrEnum

import msgspec


class EndReason(StrEnum):
    """How an attempt ended. In the order of decision: the first that holds wins."""

    CANCELLED = "cancelled"
    REFUSED = "refused"
    MISMATCH = "mismatch"
    SANDBOX_LOST = "sandbox_lost"
    SUPERVISOR_LOST = "supervisor_lost"
    BROKER_LOST = "broker_lost"
    INCONSISTENT = "inconsistent"
    RATE_LIMITED = "rate_limited"
    STALLED_FAILING = "stalled_failing"
    STALLED_SILENT = "stalled_silent"
    BUDGET = "budget"
    DEADLINE_IDLE = "deadline_idle"
    DEADLINE_PROGRESS = "deadline_progress"
    OOM = "oom"
    PROVIDER_REFUSED = "provider_refused"
    LENGTH_STOP = "length_stop"
    HARNESS_SIGNAL = "harness_signal"
    HARNESS_EXIT = "harness_exit"
    SESSION_ERROR = "session_error"
    NO_RESPONSE = "no_response"
    ANSWER_LOST = "answer_lost"
    COMPLETED = "completed"


class Flag(StrEnum):
    """Something worth knowing beside the reason."""

    ANSWER_ABSENT = "answer_absent"
    HUNG_AFTER_END = "hung_after_end"
    KILLED_AFTER_END = "killed_after_end"
    CHILD_OOM = "child_oom"
    LENGTH_RECOVERED = "length_recovered"
    SECRET_SCRUBBED = "secret_scrubbed"  # noqa: S105 - a flag's name
    UNMATCHED_CALLS = "unmatched_calls"
    EFFORT_UNDECLARED = "effort_undeclared"
    MODEL_DIFFERS = "model_differs"
    ISOLATION_WEAK = "isolation_weak"


class Blame(StrEnum):
    """Whose fault it was."""

    HARNESS = "harness"
    PROVIDER = "provider"
    SANDBOX = "sandbox"
    OPERATOR = "operator"
    TASK = "task"
    US = "us"


class Retry(StrEnum):
    """Whether another attempt of the same run makes sense."""

    NOW = "now"
    AFTER_BACKOFF = "after_backoff"
    NEVER = "never"


class ScoreRule(StrEnum):
    """What the ending allows the verifier's reward to be."""

    WITHHELD = "withheld"
    CREDIT_ONLY = "credit_only"
    """Withheld, unless the reward is above the task's untouched reward."""
    VERIFIER = "verifier"


class Grade(StrEnum):
    """What became of grading."""

    GRADED = "graded"
    NOT_RUN = "not_run"
    NO_REWARD = "no_reward"
    BAD_REWARD = "bad_reward"
    VERIFIER_TIMEOUT = "verifier_timeout"
    VERIFIER_ERROR = "verifier_error"
    VERIFIER_NETWORK = "verifier_network"


class Meaning(msgspec.Struct, frozen=True):
    """What an end reason means."""

    score: ScoreRule
    blame: Blame | None
    retry: Retry


_W, _C, _V = ScoreRule.WITHHELD, ScoreRule.CREDIT_ONLY, ScoreRule.VERIFIER

MEANING: dict[EndReason, Meaning] = {
    EndReason.CANCELLED: Meaning(_W, Blame.OPERATOR, Retry.NEVER),
    EndReason.REFUSED: Meaning(_W, Blame.OPERATOR, Retry.NEVER),
    EndReason.MISMATCH: Meaning(_W, Blame.HARNESS, Retry.NEVER),
    EndReason.SANDBOX_LOST: Meaning(_W, Blame.SANDBOX, Retry.NOW),
    EndReason.SUPERVISOR_LOST: Meaning(_W, Blame.US, Retry.NOW),
    EndReason.BROKER_LOST: Meaning(_W, Blame.US, Retry.AFTER_BACKOFF),
    EndReason.INCONSISTENT: Meaning(_W, Blame.SANDBOX, Retry.NEVER),
    EndReason.RATE_LIMITED: Meaning(_C, Blame.PROVIDER, Retry.AFTER_BACKOFF),
    EndReason.STALLED_FAILING: Meaning(_C, Blame.PROVIDER, Retry.AFTER_BACKOFF),
    EndReason.STALLED_SILENT: Meaning(_C, Blame.HARNESS, Retry.NOW),
    EndReason.BUDGET: Meaning(_V, None, Retry.NEVER),
    EndReason.DEADLINE_IDLE: Meaning(_C, Blame.HARNESS, Retry.NOW),
    EndReason.DEADLINE_PROGRESS: Meaning(_V, None, Retry.NEVER),
    EndReason.OOM: Meaning(_C, Blame.SANDBOX, Retry.NOW),
    EndReason.PROVIDER_REFUSED: Meaning(_C, Blame.OPERATOR, Retry.NEVER),
    EndReason.LENGTH_STOP: Meaning(_C, Blame.OPERATOR, Retry.NEVER),
    EndReason.HARNESS_SIGNAL: Meaning(_C, Blame.HARNESS, Retry.NOW),
    EndReason.HARNESS_EXIT: Meaning(_C, Blame.HARNESS, Retry.NOW),
    EndReason.SESSION_ERROR: Meaning(_C, Blame.HARNESS, Retry.NOW),
    EndReason.NO_RESPONSE: Meaning(_C, Blame.HARNESS, Retry.NOW),
    EndReason.ANSWER_LOST: Meaning(_C, Blame.HARNESS, Retry.NOW),
    EndReason.COMPLETED: Meaning(_V, None, Retry.NEVER),
}
