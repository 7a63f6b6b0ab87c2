"""The text of a first stanchion.toml: every key there is, commented, with one account filled in.

Pure. It must never hold a key, and a file that is there already is never written over.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from stanchion.protocol.refusal import refuse

PROFILE = "evals"


@dataclass(frozen=True, slots=True)
class Provider:
    """What is known of a kind of provider beforehand."""

    account: str
    api: str
    base_url: str
    credential: str
    variable: str | None
    """Where people have this key already."""
    note: str


PROVIDERS: Mapping[str, Provider] = {
    "anthropic": Provider(
        account="anthropic",
        api="anthropic_messages",
        base_url="https://api.anthropic.com",
        credential="file:keys/evals-anthropic",
        variable="ANTHROPIC_API_KEY",
        note="Anthropic's own API",
    ),
    "gemini": Provider(
        account="gemini",
        api="gemini",
        base_url="https://generativelanguage.googleapis.com",
        credential="file:keys/evals-gemini",
        variable="GEMINI_API_KEY",
        note="Google's Gemini API",
    ),
    "openai": Provider(
        account="openai",
        api="openai_chat",
        base_url="https://api.openai.com/v1",
        credential="file:keys/evals-openai",
        variable="OPENAI_API_KEY",
        note="OpenAI's own API",
    ),
    "openai-compatible": Provider(
        account="gateway",
        api="openai_chat",
        base_url="https://inference.example.com/v1",
        credential="file:keys/evals-gateway",
        variable=None,
        note="any server that speaks OpenAI chat completions",
    ),
    "openai-responses": Provider(
        account="openai-responses",
        api="openai_responses",
        base_url="https://api.openai.com/v1",
        credential="file:keys/evals-openai",
        variable="OPENAI_API_KEY",
        note="OpenAI's own API by its newer format, responses",
    ),
    "vllm": Provider(
        account="vllm",
        api="openai_chat",
        base_url="http://127.0.0.1:8000/v1",
        credential="none",
        variable=None,
        note="a vLLM server of your own; with --api-key on the server, give it a credential",
    ),
}

_HEAD = """\
# Who pays for a run, and under which terms. Read by the broker when it starts; `stanchion run`
# finds this file from its folder and every folder below. No key belongs in here: a credential
# names the place where one is. All keys: docs/reference/configuration.md
version = 1

# [broker]
# max_runs = 500                     # open attempts at a time
# ca_bundle = "ca.pem"               # a private certificate authority, trusted beside the system's
# egress_proxy = "http://proxy.example.com:3128"   # https requests leave through its CONNECT

[profiles.evals]                     # one profile = one identity that pays
# policy = "enforce"                 # observe: record a mismatch, do not end the attempt
# limit_policy = "default"           # explicit: refuse a launch that names no --output-limit
# effort_policy = "unspecified-ok"   # explicit: refuse a launch that names no --effort
# harnesses = { opencode = "1.18.33" }   # only these; without the line any that is known
# isolation = "M2"                   # M2 | none
# allow_weak = false                 # true: run where the isolation self-test fails; flagged
# capture = "failures"               # digest | failures | bodies
# allow_fields = []                  # body fields to let through, as "store" or "web_search"
# budget = { output_tokens = 5_000_000, requests = 2_000 }   # per attempt
# watchdog = { failing_s = 900, silent_s = 2400, max_wait_s = 1200 }   # seconds
"""
_TAIL = """
# What you declare about a model; `stanchion limits ACCOUNT/MODEL` shows what holds without it.
# [profiles.evals.models."ACCOUNT/MODEL"]
# context = 65536                    # tokens; source "operator"
# output_limit = 32768               # tokens a response; source "operator"

# US dollars a million tokens, decimal text; without a line the cost of a run is null, not 0.
# [profiles.evals.prices]
# "ACCOUNT/MODEL" = { input = "0.50", output = "1.50" }
"""


def config_text(provider: str | None, base_url: str | None) -> str:
    """The whole file; without a provider every account is a comment."""
    accounts = [
        _account(PROVIDERS[name], base_url if name == provider else None, given=name == provider)
        for name in sorted(PROVIDERS, key=lambda name: name != provider)
    ]
    return "\n".join([_HEAD, *accounts]) + _TAIL


def _account(provider: Provider, base_url: str | None, *, given: bool) -> str:
    url = base_url or provider.base_url
    lines = [
        f"[profiles.{PROFILE}.accounts.{provider.account}]",
        f'api = "{provider.api}"',
        f'base_url = "{url}"',
        f'credential = "{provider.credential}"',
    ]
    shown = [f"# --model {provider.account}/MODEL: {provider.note}"]
    shown += lines if given else [f"# {line}" for line in lines]
    if provider.variable is not None:
        shown.append(
            f'# credential = "env:{provider.variable}"   # instead: read once, at the start'
        )
    shown.append("# max_in_flight = 40                 # requests at a time")
    if not url.startswith("https:"):
        shown.append("# allow_plain_http = true            # for another host than this one")
    return "\n".join(shown) + "\n"


def write_new(path: Path, text: str) -> None:
    """A new file, never in the place of another."""
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise refuse(
            "config_exists",
            field="--path",
            value=path,
            rule="`init` writes a new file and never changes one",
            remedy="Edit it, or write another with --path",
            next=f"stanchion broker check --config {path}",
        ) from None
