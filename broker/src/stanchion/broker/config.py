"""Reads stanchion.toml: profiles, their accounts and policies. Pure: bytes in, values out.

Unknown keys, wrong types and unsafe addresses are refused with the key's full name. It must never
hold or show a secret: a credential is only the name of the place where one is.
"""

import hashlib
import ipaddress
import re
import tomllib
from typing import Annotated, Literal, TypeVar
from urllib.parse import SplitResult, urlsplit

import msgspec
from msgspec import Meta

from stanchion.broker.plane.fields.table import names as field_names
from stanchion.protocol.admin import ModelView, ProfileView
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.launch import Isolation, Policy
from stanchion.protocol.refusal import RefusedError, refuse

CONFIG_VERSION = 1
REHEARSAL = "rehearsal"
"""Name of the built-in profile and of its one account."""

_Positive = Annotated[int, Meta(gt=0)]
_Dollars = Annotated[str, Meta(pattern=r"^[0-9]{1,6}(\.[0-9]{1,6})?$")]
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}\Z")
_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]{0,252}[A-Za-z0-9])?\Z|[0-9a-f:.]{2,45}\Z")
_AUTHORITY = re.compile(r"([A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?\Z")
"""What becomes the Host header; no user, no empty port."""
_URL = re.compile(r"[\x21-\x7e]+\Z")
_PATH = re.compile(r"(/[A-Za-z0-9._~-]+)*/?\Z")

T = TypeVar("T")


class _Table(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of the tables: unknown keys are refused."""


class Account(_Table, frozen=True, kw_only=True):
    """`[profiles.P.accounts.A]`: one provider identity that pays."""

    api: Dialect
    base_url: str
    credential: str
    max_in_flight: _Positive = 40
    allow_plain_http: bool = False


class Model(_Table, frozen=True, kw_only=True):
    """`[profiles.P.models."A/M"]`: what the operator declares about a model."""

    context: _Positive | None = None
    output_limit: _Positive | None = None


class Price(_Table, frozen=True, kw_only=True):
    """`[profiles.P.prices]`: US dollars a million tokens, decimal text."""

    input: _Dollars
    output: _Dollars
    cache_read: _Dollars | None = None
    cache_write: _Dollars | None = None


class BudgetTable(_Table, frozen=True, kw_only=True):
    """`budget`: per attempt."""

    output_tokens: _Positive | None = None
    requests: _Positive | None = None


class WatchdogTable(_Table, frozen=True, kw_only=True):
    """`watchdog`: seconds."""

    failing_s: _Positive = 900
    silent_s: _Positive = 2400
    max_wait_s: _Positive = 1200


class Profile(_Table, frozen=True, kw_only=True):
    """`[profiles.P]`: what a benchmark environment pays with, and under which policy."""

    policy: Policy = Policy.ENFORCE
    limit_policy: Literal["default", "explicit"] = "default"
    effort_policy: Literal["unspecified-ok", "explicit"] = "unspecified-ok"
    harnesses: dict[str, str] = {}
    isolation: Isolation = Isolation.M2
    allow_weak: bool = False
    capture: Literal["digest", "failures", "bodies"] = "failures"
    allow_fields: tuple[str, ...] = ()
    """Names of the field policy that requests under this profile may carry after all."""
    budget: BudgetTable = BudgetTable()
    watchdog: WatchdogTable = WatchdogTable()
    accounts: dict[str, Account] = {}
    models: dict[str, Model] = {}
    prices: dict[str, Price] = {}

    def view(self, name: str) -> ProfileView:
        """What a launcher may know."""
        return ProfileView(
            name=name,
            accounts={account: table.api for account, table in self.accounts.items()},
            policy=self.policy,
            limit_policy=self.limit_policy,
            effort_policy=self.effort_policy,
            harnesses=self.harnesses,
            isolation=self.isolation,
            allow_weak=self.allow_weak,
            models={
                model: ModelView(context=table.context, output_limit=table.output_limit)
                for model, table in self.models.items()
            },
            budget_requests=self.budget.requests,
            budget_output_tokens=self.budget.output_tokens,
            failing_s=self.watchdog.failing_s,
            silent_s=self.watchdog.silent_s,
            max_wait_s=self.watchdog.max_wait_s,
            allow_fields=tuple(sorted(self.allow_fields)),
        )


class BrokerTable(_Table, frozen=True, kw_only=True):
    """`[broker]`."""

    max_runs: _Positive = 500
    orphan_s: _Positive = 600
    """An attempt whose supervisor and launcher were not heard for so long is closed as lost."""
    retention_days: _Positive = 30
    """Events of closed attempts are dropped after this long; receipts never are."""
    events_max_mb: _Positive = 4096
    """Over this the events of the oldest closed attempts are dropped sooner."""
    ca_bundle: str | None = None
    """Certificates to trust beside the system's; relative to the file."""
    egress_proxy: str | None = None
    """`http://HOST:PORT`: https requests leave through its CONNECT."""


class _File(_Table, frozen=True, kw_only=True):
    version: int
    broker: BrokerTable = BrokerTable()
    profiles: dict[str, dict[str, object]] = {}


class Config(msgspec.Struct, frozen=True, kw_only=True):
    """The configuration as loaded."""

    broker: BrokerTable
    profiles: dict[str, Profile]
    sha256: str | None
    """Of the file's bytes; None without a file."""


def built_in() -> Config:
    """Only the rehearsal profile."""
    return Config(broker=BrokerTable(), profiles={REHEARSAL: _rehearsal()}, sha256=None)


def read_config(data: bytes) -> Config:
    """The configuration in a file's bytes, with the built-in profile; RefusedError says where."""
    try:
        raw = tomllib.loads(data.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise _bad("stanchion.toml", None, f"is TOML in UTF-8 ({error})") from None
    file = _convert(raw, _File, "")
    if file.version != CONFIG_VERSION:
        raise _bad("version", file.version, f"is {CONFIG_VERSION}")
    proxy = file.broker.egress_proxy
    if proxy is not None:
        split_proxy_url(proxy)
    profiles = {
        name: _profile(name, table, behind_proxy=proxy is not None)
        for name, table in file.profiles.items()
    }
    return Config(
        broker=file.broker,
        profiles={**profiles, REHEARSAL: _rehearsal()},
        sha256=hashlib.sha256(data).hexdigest(),
    )


def split_base_url(text: str, *, field: str, allow_plain_http: bool) -> SplitResult:
    """The parts of a safe base URL: scheme, host, port and a plain path; nothing else."""
    if {"?", "#", "@"} & set(text):
        raise _bad(field, None, "has no user, query or fragment")
    try:
        url = urlsplit(text)
        port = url.port
    except ValueError as error:
        raise _bad(field, text, f"is a URL ({error})") from None
    plain = _URL.match(text) and _AUTHORITY.match(url.netloc) and _HOST.match(url.hostname or "")
    if url.scheme not in {"https", "http"} or not plain or port == 0:
        raise _bad(field, text, "is https://HOST[:PORT][/PATH]")
    if not _PATH.match(url.path):
        raise _bad(field, text, "has a path of plain letters, digits and ._~-")
    if url.scheme == "http" and not (allow_plain_http or is_loopback(url.hostname or "")):
        raise refuse(
            "plain_http",
            field=field,
            value=text,
            rule="a key travels over https",
            remedy="Use https, or say allow_plain_http = true in this account",
        )
    return url


def split_proxy_url(text: str) -> tuple[str, int]:
    """Host and port of the egress proxy."""
    field = "broker.egress_proxy"
    try:
        url = urlsplit(text)
        port = url.port
    except ValueError as error:
        raise _bad(field, None, f"is a URL ({error})") from None
    if "@" in text:
        raise _bad(field, None, "has no user or password: they would stand here in the open")
    if url.scheme != "http" or not _HOST.match(url.hostname or "") or not port:
        raise _bad(field, text, "is http://HOST:PORT")
    if url.path not in {"", "/"} or url.query or url.fragment:
        raise _bad(field, text, "is http://HOST:PORT, without a path")
    return url.hostname or "", port


def is_loopback(host: str) -> bool:
    """Whether the host is this machine by its very name, without asking anybody."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _rehearsal() -> Profile:
    return Profile(
        accounts={
            REHEARSAL: Account(
                api=Dialect.OPENAI_CHAT,
                base_url="http://127.0.0.1:1/v1",
                credential=REHEARSAL,
                allow_plain_http=True,
            )
        }
    )


def _profile(name: str, table: dict[str, object], *, behind_proxy: bool) -> Profile:
    where = f"profiles.{name}"
    if name == REHEARSAL:
        raise _bad(where, None, "is another name: this profile is built in")
    _check_name(where, name)
    parts: dict[str, type[msgspec.Struct]] = {
        "accounts": Account,
        "models": Model,
        "prices": Price,
    }
    for part, kind in parts.items():
        inner = table.get(part, {})
        if not isinstance(inner, dict):
            raise _bad(f"{where}.{part}", None, "is a table of tables")
        for key, value in inner.items():
            _convert(value, kind, f"{where}.{part}.{key}.")
    profile = _convert(table, Profile, f"{where}.")
    for field in profile.allow_fields:
        if field not in field_names():
            raise _bad(f"{where}.allow_fields", field, f"names some of {', '.join(field_names())}")
    for account, settings in profile.accounts.items():
        field = f"{where}.accounts.{account}"
        _check_name(field, account)
        url = split_base_url(
            settings.base_url,
            field=f"{field}.base_url",
            allow_plain_http=settings.allow_plain_http,
        )
        if behind_proxy and url.scheme == "http" and not is_loopback(url.hostname or ""):
            raise refuse(
                "proxy_plain_http",
                field=f"{field}.base_url",
                value=settings.base_url,
                rule="[broker] egress_proxy carries https only",
                remedy="Use https for this account, or another broker without the proxy for it",
            )
    return profile


def _check_name(field: str, name: str) -> None:
    if not _NAME.match(name):
        raise _bad(field, name, "has a name of lower-case letters, digits and ._-")


def _convert(value: object, kind: type[T], where: str) -> T:
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        reason, _, path = str(error).partition(" - at `$")
        field = f"{where}{path.rstrip('`').lstrip('.')}".rstrip(".") or "stanchion.toml"
        raise _bad(field, None, f"is as documented ({reason})") from None


def _bad(field: str, value: object, rule: str) -> RefusedError:
    return refuse(
        "config_invalid",
        field=field,
        value=value,
        rule=f"it {rule}",
        remedy="Mend this key in stanchion.toml",
    )
