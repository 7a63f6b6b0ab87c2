"""The accounts of all profiles with their keys, resolved once at the start.

One account per launch and never another in its place. A missing key is an error at start; the
rehearsal account takes port and key from the launch.
"""

import ssl
from collections.abc import Callable, MutableMapping
from pathlib import Path
from urllib.parse import SplitResult

from stanchion.broker.config import REHEARSAL, Account, Config, split_base_url
from stanchion.broker.plane.upstream import Target
from stanchion.broker.secrets import Secret, check_key, load_secret
from stanchion.protocol.admin import OpenRun
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.launch import AccountRef


class Accounts:
    """Keys and addresses by profile and account."""

    def __init__(
        self,
        config: Config,
        *,
        folder: Path,
        environ: MutableMapping[str, str],
        fingerprint: Callable[[str], str],
    ) -> None:
        self._fingerprint = fingerprint
        self._tls = ssl.create_default_context(cafile=config.broker.ca_bundle)
        self._keys = {
            (name, account): load_secret(
                table.credential,
                field=f"profiles.{name}.accounts.{account}.credential",
                folder=folder,
                environ=environ,
            )
            for name, profile in config.profiles.items()
            for account, table in profile.accounts.items()
            if name != REHEARSAL
        }

    def resolve(self, order: OpenRun, account: Account) -> tuple[AccountRef, Target]:
        """What is frozen of the account, and where its requests go."""
        spec = order.spec
        if order.rehearsal is not None:
            base_url = f"http://127.0.0.1:{order.rehearsal.port}/v1"
            key: Secret | None = Secret(check_key(order.rehearsal.key, field="rehearsal.key"))
        else:
            base_url = account.base_url
            key = self._keys[spec.profile, spec.model.account]
        url = split_base_url(base_url, field="base_url", allow_plain_http=account.allow_plain_http)
        reference = AccountRef(
            name=spec.model.account,
            dialect=account.api,
            base_url=base_url,
            tls=url.scheme == "https",
            credential=account.credential,
            fingerprint=None if key is None else key.fingerprint(self._fingerprint),
        )
        return reference, self._target(url, key, account.api)

    def _target(self, url: SplitResult, key: Secret | None, api: Dialect) -> Target:
        secure = url.scheme == "https"
        path = url.path.rstrip("/")
        own = api is Dialect.ANTHROPIC_MESSAGES
        return Target(
            host=url.hostname or "",
            port=url.port or (443 if secure else 80),
            authority=url.netloc,
            # Anthropic's SDKs take a base URL without the version, others one with it: both do.
            path=path.removesuffix("/v1") if own else path,
            tls=self._tls if secure else None,
            key=key,
            key_header=("x-api-key", "") if own else ("authorization", "Bearer "),
        )
