"""The body fields that reach beyond one model response, by name: what is denied, and where. Pure.

A field is denied where it would keep or read state at the provider, run something there, fetch
from elsewhere, multiply the output, or choose another model, price or address than was launched.
Everything else passes. Names are compared folded (no case, no `_` or `-`): Go's JSON decoder takes
any case (encoding/json), protobuf's takes `candidateCount` and `candidate_count` alike.

Sources: API references of OpenAI (chat completions, responses), Anthropic (messages, beta) and
Gemini (generateContent) with their SDKs' types; compatible servers: OpenRouter (`models`,
`plugins`, `preset`), xAI (`search_parameters`), Qwen (`enable_search`), Moonshot
(`builtin_function`), vLLM (`best_of`, `video_url`, `audio_url`); overrides that gateways obey:
BerriAI/litellm CVE-2024-6587 and #37053, Portkey CVE-2025-66405; a fetched `image_url`:
songquanpeng/one-api#2388.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache

from stanchion.protocol.dialects import Dialect

Denies = Callable[[object], bool]


@lru_cache(maxsize=1024)
def fold(name: str) -> str:
    """A name as the laxest server reads it."""
    return name.casefold().replace("_", "").replace("-", "")


def given(value: object) -> bool:
    """Anything but null, false and nothing."""
    return value not in (None, False, "", [], {})


def more_than_one(value: object) -> bool:
    """A count other than one, of whatever type."""
    return value is not None and (isinstance(value, bool) or value != 1)


def remote(value: object) -> bool:
    """An address in place of the data itself: a text, `{"url": …}`, or a list of such."""
    if isinstance(value, str):
        return value != "" and not value.startswith("data:")
    if isinstance(value, dict):
        return any(fold(key) == "url" and remote(member) for key, member in value.items())
    return isinstance(value, list) and any(remote(item) for item in value)


def web(value: object) -> bool:
    """A web address in a field that may hold data of another kind."""
    if isinstance(value, list):
        return any(web(item) for item in value)
    return isinstance(value, str) and value.lower().startswith(("http:", "https:", "file:", "gs:"))


def _other_than(*words: str) -> Denies:
    return lambda value: value is not None and value not in words


def _searching(value: object) -> bool:
    return given(value) and not (isinstance(value, dict) and value.get("mode") == "off")


def _billing_another(value: object) -> bool:
    return given(value) and not (isinstance(value, dict) and value.get("bill_to") == "self")


@dataclass(frozen=True, slots=True)
class Rule:
    """One name of `allow_fields`, and the body keys that it stands for."""

    name: str
    keys: tuple[str, ...]
    denies: Denies = given
    anywhere: bool = False
    """At any depth outside what is the caller's own data, else at the top level only."""
    dialects: frozenset[Dialect] = frozenset(Dialect)


_RESPONSES = frozenset({Dialect.OPENAI_RESPONSES})
_MESSAGES = frozenset({Dialect.ANTHROPIC_MESSAGES})

RULES: tuple[Rule, ...] = (
    Rule("background", ("background",)),
    Rule("store", ("store",)),
    Rule("previous_response_id", ("previous_response_id",)),
    Rule("conversation", ("conversation", "conversation_id")),
    Rule("conversation", ("thread",), dialects=_MESSAGES),
    Rule("billing_policy", ("billing_policy",), _billing_another, dialects=_MESSAGES),
    Rule("stored_prompt", ("prompt",), dialects=_RESPONSES),
    Rule("stored_prompt", ("preset",)),
    Rule("cached_content", ("cached_content",)),
    Rule("container", ("container",)),
    Rule("container", ("container_id",), anywhere=True),
    Rule("file_id", ("file_id", "file_ids", "vector_store_ids"), anywhere=True),
    Rule("mcp_servers", ("mcp_servers",)),
    Rule("n", ("n", "best_of", "num_return_sequences"), more_than_one),
    Rule("n", ("candidate_count",), more_than_one, anywhere=True),
    Rule("service_tier", ("service_tier",), _other_than("auto", "default", "standard_only",
         "standard", "SERVICE_TIER_UNSPECIFIED"), anywhere=True),
    Rule("service_tier", ("speed",), _other_than("standard")),
    Rule("other_models", ("models", "fallbacks", "fallback_models", "fallback_credit_token",
         "model_list")),
    Rule("other_models", ("routing_config", "model_selection_config"), anywhere=True),
    Rule("webhook", ("webhook", "webhook_url", "webhook_config", "callback_url",
         "notification_url")),
    Rule("web_search", ("web_search_options", "web_search", "enable_search")),
    Rule("web_search", ("search_parameters",), _searching),
    Rule("plugins", ("plugins",)),
    Rule("extra_body", ("extra_body", "extra_headers", "extra_query", "litellm_params")),
    Rule("remote_url", ("image_url", "video_url", "audio_url", "file_url", "file_uri"), remote,
         anywhere=True),
    Rule("remote_url", ("image", "video", "audio"), web, anywhere=True),
    Rule("base_url", ("base_url", "api_base", "api_url", "api_host", "azure_endpoint",
         "aws_bedrock_runtime_endpoint", "aws_sts_endpoint", "custom_host", "target_url",
         "upstream_url", "user_config"), anywhere=True),
    Rule("api_key", ("api_key", "aws_access_key_id", "aws_secret_access_key", "vertex_credentials",
         "azure_ad_token", "authorization"), anywhere=True),
)  # fmt: skip

TYPES: dict[str, str] = {
    "item_reference": "item_reference",
    "container_upload": "container",
    "container_auto": "container",
    "container_reference": "container",
}
"""Values of a `type` that are denied wherever they stand, and the name."""

SOURCES: dict[str, str] = {"url": "remote_url", "file": "file_id"}
"""Types of an Anthropic `source` that are denied, and the name."""

CLIENT_TOOLS = frozenset(
    {"function", "custom", "namespace", "local_shell", "shell", "apply_patch", "tool_search"}
)
"""Types of tools that the harness runs itself, or that only sort such tools."""

CLIENT_TOOL_PREFIXES = ("bash_2", "text_editor_2", "memory_2", "tool_search_tool_")
"""Of Anthropic's dated types; the tools run where the harness does."""

GEMINI_CLIENT_TOOL = fold("function_declarations")

HOSTED_TOOLS: tuple[tuple[str, str], ...] = (
    ("websearch", "web_search"),
    ("googlesearch", "web_search"),
    ("enterprisewebsearch", "web_search"),
    ("parallelaisearch", "web_search"),
    ("exaaisearch", "web_search"),
    ("xsearch", "web_search"),
    ("builtinfunction", "web_search"),
    ("webfetch", "web_fetch"),
    ("urlcontext", "web_fetch"),
    ("filesearch", "file_search"),
    ("retrieval", "file_search"),
    ("collectionssearch", "file_search"),
    ("codeinterpreter", "code_interpreter"),
    ("codeexecution", "code_interpreter"),
    ("programmatictoolcalling", "code_interpreter"),
    ("computer", "computer_use"),
    ("imagegeneration", "image_generation"),
    ("mcp", "mcp_servers"),
)
"""Beginnings of folded types (for Gemini: of keys), and the name."""

UNKNOWN_TOOL = "unknown_tool"

OPAQUE = frozenset(
    map(
        fold,
        (
            "parameters",
            "input_schema",
            "schema",
            "json_schema",
            "response_schema",
            "response_json_schema",
            "parameters_json_schema",
            "guided_json",
            "arguments",
            "args",
            "response",
            "logit_bias",
        ),
    )
)
"""Keys whose values are the caller's own data: schemas, and arguments and results of its tools.
Servers hand them to the model or to a grammar, and obey none of their words."""

TWIN_FIELDS = "twin_fields"
"""Two spellings of one setting that differ: which one counts is the server's choice."""

TWINS: dict[str, tuple[tuple[str, ...], ...]] = {
    "limit": (
        ("maxtokens",),
        ("maxcompletiontokens",),
        ("maxoutputtokens",),
        ("maxnewtokens",),
        ("maxtokenstosample",),
        ("numpredict",),
        ("options", "numpredict"),
        ("generationconfig", "maxoutputtokens"),
    ),
    "effort": (
        ("reasoningeffort",),
        ("reasoning", "effort"),
        ("outputconfig", "effort"),
        ("effort",),
        ("chattemplatekwargs", "reasoningeffort"),
        ("thinkinglevel",),
        ("generationconfig", "thinkingconfig", "thinkinglevel"),
    ),
}
"""Folded paths of the output limit, and of the effort, by which some server knows it."""

NEVER_ALLOWED = frozenset({TWIN_FIELDS})


def names() -> tuple[str, ...]:
    """Everything that `allow_fields` may name."""
    found: Iterable[str] = (
        *(rule.name for rule in RULES),
        *TYPES.values(),
        *SOURCES.values(),
        *(name for _, name in HOSTED_TOOLS),
        UNKNOWN_TOOL,
    )
    return tuple(sorted(set(found) - NEVER_ALLOWED))
