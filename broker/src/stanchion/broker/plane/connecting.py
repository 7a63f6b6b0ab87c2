"""Opens a connection to a provider: resolved anew each time, verified, never to a link-local host.

It decides nothing about a request. TLS is verified as the target's context says. The addresses that
are checked are those that are dialled: a name that leads to a link-local one, even as one of many,
is refused before anybody there hears of it.
"""

import asyncio
import contextlib
import errno
import ipaddress
import socket
import ssl
from collections.abc import AsyncIterator, Iterable

from stanchion.broker.plane.target import Target
from stanchion.broker.plane.tunnel import open_tunnel
from stanchion.broker.plane.upstream import Upstream

CONNECT_S = 30.0
_METADATA = frozenset({"100.100.100.200", "192.0.0.192", "fd00:ec2::254", "fd20:ce::254"})
"""Of Alibaba, Oracle, Amazon and Google, by their manuals of the instance metadata service."""


class ConnectTimeoutError(TimeoutError):
    """No connection within its deadline, or nobody waits for it any more."""


async def connect(
    target: Target, *, connect_s: float = CONNECT_S, until: Iterable[asyncio.Future[None]] = ()
) -> Upstream:
    """Open one; OSError where that fails, ConnectTimeoutError among them.

    Whichever of the futures `until` is done ends the attempt at once.
    """
    loop = asyncio.get_running_loop()
    futures = tuple(until)
    try:
        async with asyncio.timeout(connect_s) as deadline:

            def give_up(_: object) -> None:
                deadline.reschedule(loop.time())

            for future in futures:
                future.add_done_callback(give_up)
            try:
                return await _connect(target)
            finally:
                for future in futures:
                    future.remove_done_callback(give_up)
    except TimeoutError:
        raise ConnectTimeoutError(f"no connection within {connect_s:g} s") from None


async def _connect(target: Target) -> Upstream:
    if target.proxy is not None and target.tls is not None:
        return await _connect_through(target.proxy, target, target.tls)
    *others, last = await _addresses(target)
    for address in others:
        with contextlib.suppress(ConnectionError, TimeoutError):
            return await _dial(target, address)
    return await _dial(target, last)


async def _dial(target: Target, address: str) -> Upstream:
    loop = asyncio.get_running_loop()
    _, upstream = await loop.create_connection(
        lambda: Upstream(loop),
        address,
        target.port,
        ssl=target.tls,
        server_hostname=target.host if target.tls is not None else None,
    )
    return upstream


async def _addresses(target: Target) -> list[str]:
    """Where the host is."""
    try:
        addresses = [str(ipaddress.ip_address(target.host))]
    except ValueError:
        loop = asyncio.get_running_loop()
        found = await loop.getaddrinfo(target.host, target.port, type=socket.SOCK_STREAM)
        addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
    forbidden = next(filter(is_link_local, addresses), None)
    if forbidden is not None:
        raise OSError(errno.EACCES, f"{target.host} resolves to the link-local address {forbidden}")
    return addresses


async def _connect_through(proxy: tuple[str, int], target: Target, tls: ssl.SSLContext) -> Upstream:
    loop = asyncio.get_running_loop()
    tunnel = await open_tunnel(proxy, target.host, target.port)
    upstream = Upstream(loop)
    try:
        secured = await loop.start_tls(tunnel, upstream, tls, server_hostname=target.host)
    except BaseException:  # the deadline cancels it, too
        tunnel.abort()
        raise
    if secured is None:
        tunnel.abort()
        raise ConnectionResetError("the egress proxy closed the tunnel")
    upstream.connection_made(secured)  # start_tls does not say it
    return upstream


def is_link_local(address: str) -> bool:
    """Cloud machines serve credentials on such addresses, and on the few others that are listed
    here; no provider lives there.
    """
    found = ipaddress.ip_address(address.partition("%")[0])
    inner = found.ipv4_mapped or found.sixtofour if found.version == 6 else None
    return any(one.is_link_local or str(one) in _METADATA for one in (found, inner) if one)


async def obtain(
    target: Target, *, connect_s: float = CONNECT_S, until: Iterable[asyncio.Future[None]] = ()
) -> Upstream:
    """A connection for one exchange: an idle one of the account, else a new one.

    Whoever obtained it calls `settle` in any case.
    """
    line = None if target.pool is None else target.pool.take()
    if line is None:
        return await connect(target, connect_s=connect_s, until=until)
    return Upstream.over(line)


def settle(target: Target, upstream: Upstream) -> None:
    """The exchange is over: back to the account, if it left the connection clean."""
    if target.pool is None or not upstream.clean:
        upstream.close()
        return
    keep_s, line = upstream.keep_s, upstream.release()
    if not target.pool.park(line, keep_s):
        line.transport.abort()


@contextlib.asynccontextmanager
async def connected(target: Target) -> AsyncIterator[Upstream]:
    """One exchange over a connection that is settled at the end of the block."""
    upstream = await obtain(target)
    try:
        yield upstream
    finally:
        settle(target, upstream)
