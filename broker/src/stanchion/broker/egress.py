"""How requests leave this machine: trusted certificates, egress proxy, and the target of a key.

TLS is always verified against the system's certificates, and a private authority's beside them.
Nothing is taken from the environment: a proxy variable there is not obeyed.
"""

import ssl
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import SplitResult

from stanchion.broker.config import BrokerTable, split_proxy_url
from stanchion.broker.plane.pacing.turns import Turns
from stanchion.broker.plane.pool import Pool
from stanchion.broker.plane.target import Target
from stanchion.broker.secrets import Secret
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.refusal import refuse

_KEY_HEADERS = {
    Dialect.ANTHROPIC_MESSAGES: ("x-api-key", ""),
    Dialect.GEMINI: ("x-goog-api-key", ""),
}
_VERSIONED = {Dialect.ANTHROPIC_MESSAGES: ("/v1",), Dialect.GEMINI: ("/v1beta", "/v1")}
"""SDKs of these vendors take a base URL without the version, others one with it: both do. Where
there are several, the request's own counts."""


def version_of(api: Dialect) -> str:
    """The version part of an API's paths, the usual one."""
    return _VERSIONED.get(api, ("/v1",))[0]


@dataclass(frozen=True, slots=True)
class Egress:
    """The one way out."""

    tls: ssl.SSLContext
    proxy: tuple[str, int] | None

    @classmethod
    def of(cls, table: BrokerTable, *, folder: Path) -> "Egress":
        """As `[broker]` says; RefusedError for a bundle without certificates."""
        return cls(
            tls=_trusting(table.ca_bundle, folder),
            proxy=None if table.egress_proxy is None else split_proxy_url(table.egress_proxy),
        )

    def target(
        self,
        url: SplitResult,
        key: Secret | None,
        api: Dialect,
        turns: Turns | None = None,
        pool: Pool | None = None,
    ) -> Target:
        """Where the requests of an account go."""
        secure = url.scheme == "https"
        return Target(
            host=url.hostname or "",
            port=url.port or (443 if secure else 80),
            authority=url.netloc,
            path=_unversioned(url.path.rstrip("/"), api),
            tls=self.tls if secure else None,
            key=key,
            key_header=_KEY_HEADERS.get(api, ("authorization", "Bearer ")),
            turns=Turns() if turns is None else turns,
            proxy=self.proxy if secure else None,
            pool=pool,
        )


def _unversioned(path: str, api: Dialect) -> str:
    ending = next((one for one in _VERSIONED.get(api, ()) if path.endswith(one)), "")
    return path.removesuffix(ending)


def _trusting(ca_bundle: str | None, folder: Path) -> ssl.SSLContext:
    context = ssl.create_default_context()
    if ca_bundle is None:
        return context
    file = folder / ca_bundle
    try:
        context.load_verify_locations(cafile=file)
    except (OSError, ValueError) as error:  # an SSLError is an OSError
        why = error.strerror if isinstance(error, FileNotFoundError) else "no certificate in it"
        raise refuse(
            "ca_bundle_unusable",
            field="broker.ca_bundle",
            value=file,
            rule=f"the file holds certificates in PEM ({why})",
            remedy="Name the certificate of your private authority, or leave ca_bundle out",
        ) from None
    return context
