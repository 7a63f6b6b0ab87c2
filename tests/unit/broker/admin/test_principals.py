import asyncio
import os
import tempfile
from pathlib import Path

import pytest

from stanchion.broker.admin.principals import Principal, principal_of


async def test_the_kernel_says_who_called() -> None:
    with tempfile.TemporaryDirectory(prefix="st") as folder:
        called: asyncio.Future[Principal | None] = asyncio.get_running_loop().create_future()

        async def accept(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            called.set_result(principal_of(writer.transport))
            writer.close()

        path = str(Path(folder) / "a.sock")
        async with await asyncio.start_unix_server(accept, path):
            _, writer = await asyncio.open_unix_connection(path)
            assert await called == Principal(uid=os.geteuid(), pid=os.getpid())
            writer.close()


async def test_where_the_kernel_does_not_say_nobody_is_named() -> None:
    assert principal_of(None) is None
    assert principal_of(asyncio.BaseTransport()) is None


@pytest.mark.parametrize(
    ("uid", "may"), [(0, True), (os.geteuid(), True), (os.geteuid() + 1, False), (65534, False)]
)
def test_the_brokers_own_user_and_root_may(uid: int, may: bool) -> None:
    assert Principal(uid=uid, pid=1).may_act is may
    assert str(Principal(uid=uid, pid=1)) == f"uid {uid}"
