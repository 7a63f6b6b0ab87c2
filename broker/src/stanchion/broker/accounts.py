"""The accounts of all profiles: their keys, their turns, and which of them are tripped.

One account per launch and never another in its place. A key that is not there, or that others
could read, is an error of the launches under its account and of no other; a key file that changed
is read again for the next launch, which also mends a tripped account. The rehearsal account takes
port and key from the launch.
"""

import os
from collections.abc import Callable, Iterable, MutableMapping
from dataclasses import dataclass
from pathlib import Path
from weakref import WeakKeyDictionary, WeakValueDictionary

import msgspec

from stanchion.broker.config import REHEARSAL, Account, Config, split_base_url
from stanchion.broker.egress import Egress, version_of
from stanchion.broker.plane.pacing.trips import Trip
from stanchion.broker.plane.pacing.turns import Turns
from stanchion.broker.plane.pool import Pool
from stanchion.broker.plane.target import Target
from stanchion.broker.secrets import Secret, check_key, load_secret
from stanchion.protocol.admin import OpenRun
from stanchion.protocol.credentials import EnvProof
from stanchion.protocol.launch import AccountRef
from stanchion.protocol.refusal import Refusal, RefusedError

KEY_PROBLEMS = frozenset({"credential_missing", "credential_exposed", "credential_malformed"})
"""What is wrong with a key, not with the configuration."""

_Mark = tuple[int, int, int] | None
"""Which file a key was read from: inode, change time, size; None = no file."""


@dataclass(slots=True)
class _Standing:
    """One configured account."""

    key: Secret | None
    mark: _Mark
    turns: Turns
    missing: Refusal | None = None
    """Why its key cannot be used; None = it can."""


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
        self._config = config
        self._fingerprint = fingerprint
        self._folder = folder
        self._environ = environ
        self._egress = Egress.of(config.broker, folder=folder)
        self._standings = {
            (name, account): self._read(name, account, table)
            for name, profile in config.profiles.items()
            for account, table in profile.accounts.items()
            if name != REHEARSAL
        }
        self._from_env = {
            table.credential.removeprefix("env:"): (name, account)
            for name, profile in config.profiles.items()
            for account, table in profile.accounts.items()
            if table.credential.startswith("env:")
        }
        for name in self._from_env:
            environ.pop(name, None)  # only once all accounts have read it
        self._rehearsals: WeakValueDictionary[tuple[int, str], Turns] = WeakValueDictionary()
        self._pools: WeakKeyDictionary[Turns, Pool] = WeakKeyDictionary()
        """Whoever shares a queue is one identity, of one key: it alone shares connections."""

    @property
    def env_names(self) -> tuple[str, ...]:
        """The environment variables that keys were read from."""
        return tuple(sorted(self._from_env))

    def differing(self, proofs: Iterable[EnvProof]) -> tuple[str, ...]:
        """Variables in which a caller has another key than this broker was started with."""
        held = {name: self._standings[place].key for name, place in self._from_env.items()}
        return tuple(
            proof.name
            for proof in proofs
            if (key := held.get(proof.name)) is not None and not key.proven_by(proof)
        )

    def tripped(self, profile: str) -> dict[str, Trip]:
        """Accounts of a profile under which nothing starts."""
        return {
            account: standing.turns.trip
            for (name, account), standing in self._standings.items()
            if name == profile and standing.turns.trip is not None
        }

    def turns(self) -> dict[tuple[str, str], Turns]:
        """The queues by profile and account."""
        return {name: standing.turns for name, standing in self._standings.items()}

    def close(self) -> None:
        """Drop the connections that wait for a request."""
        for pool in self._pools.values():
            pool.close()

    def unready(self, profile: str) -> dict[str, Refusal]:
        """Accounts of a profile without a key that can be used, and why."""
        names = [account for name, account in self._standings if name == profile]
        tables = self._config.profiles[profile].accounts if names else {}
        now = {account: self._current(profile, account, tables[account]) for account in names}
        return {
            account: standing.missing
            for account, standing in now.items()
            if standing.missing is not None
        }

    def _read(self, profile: str, account: str, table: Account) -> _Standing:
        """With the key as it is now. A credential that names no place is refused at once."""
        mark, turns = self._mark(table), Turns(table.max_in_flight)
        try:
            key = load_secret(
                table.credential,
                field=f"profiles.{profile}.accounts.{account}.credential",
                folder=self._folder,
                environ=self._environ,
            )
        except RefusedError as error:
            if error.refusal.id not in KEY_PROBLEMS:
                raise
            mending = None
            if table.credential.startswith("file:"):
                mending = f"stanchion key set {profile}/{account}"
            missing = msgspec.structs.replace(error.refusal, next=mending)
            return _Standing(None, mark, turns, missing)
        return _Standing(key, mark, turns)

    def _mark(self, table: Account) -> _Mark:
        kind, _, place = table.credential.partition(":")
        if kind != "file":
            return None
        try:
            found = os.lstat(self._folder / place)
        except OSError:
            return None
        return found.st_ino, found.st_mtime_ns, found.st_size

    def _standing(self, profile: str, account: str, table: Account) -> _Standing:
        """Of an account with a key; RefusedError = it has none."""
        standing = self._current(profile, account, table)
        if standing.missing is not None:
            raise RefusedError(standing.missing)
        return standing

    def _current(self, profile: str, account: str, table: Account) -> _Standing:
        """Of a configured account, with its key as it is now.

        A key file that was written anew starts a new queue; what is open stays in the old one, so
        that an answer to the old key never trips the new one.
        """
        standing = self._standings[profile, account]
        if self._mark(table) != standing.mark or standing.missing is not None:
            standing = self._read(profile, account, table)
            self._standings[profile, account] = standing
        return standing

    def _rehearsal_turns(self, port: int, fingerprint: str, table: Account) -> Turns:
        known = self._rehearsals.get((port, fingerprint))
        turns = Turns(table.max_in_flight) if known is None else known
        self._rehearsals[port, fingerprint] = turns
        return turns

    def resolve(self, order: OpenRun, account: Account) -> tuple[AccountRef, Target]:
        """What is frozen of the account, and where requests go; RefusedError if it is tripped."""
        spec = order.spec
        base_url, key, turns = self._paying(order, account)
        if turns.trip is not None:
            raise RefusedError(turns.trip.refusal(f"{spec.model.account}/{spec.model.id}"))
        url = split_base_url(base_url, field="base_url", allow_plain_http=account.allow_plain_http)
        reference = AccountRef(
            name=spec.model.account,
            dialect=account.api,
            base_url=base_url,
            tls=url.scheme == "https",
            credential=account.credential,
            fingerprint=None if key is None else key.fingerprint(self._fingerprint),
        )
        pool = self._pools.setdefault(turns, Pool())
        return reference, self._egress.target(url, key, account.api, turns, pool)

    def _paying(self, order: OpenRun, account: Account) -> tuple[str, Secret | None, Turns]:
        """Address, key and queue."""
        spec = order.spec
        if order.rehearsal is not None:
            port = order.rehearsal.port
            key = Secret(check_key(order.rehearsal.key, field="rehearsal.key"))
            turns = self._rehearsal_turns(port, key.fingerprint(self._fingerprint), account)
            return f"http://127.0.0.1:{port}{version_of(account.api)}", key, turns
        if spec.profile == REHEARSAL:  # without a provider: nobody will be asked
            return account.base_url, None, Turns(account.max_in_flight)
        standing = self._standing(spec.profile, spec.model.account, account)
        return account.base_url, standing.key, standing.turns
