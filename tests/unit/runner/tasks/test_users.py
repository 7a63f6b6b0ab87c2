import pytest

from stanchion.protocol.refusal import RefusedError
from stanchion.runner.tasks.users import User, number_of

PASSWD = "root:x:0:0:root:/root:/bin/bash\nagent:x:1234:1234::/home/agent:/bin/sh\nbad\nodd:x:y\n"


@pytest.mark.parametrize(
    ("name", "number"), [(None, 0), ("root", 0), ("0", 0), ("1000", 1000), ("agent", 1234)]
)
def test_a_user_has_a_number(name: str | None, number: int) -> None:
    user = None if name is None else User(name, "t/task.toml:3, agent.user")
    assert number_of(user, PASSWD) == number


@pytest.mark.parametrize("name", ["nobody", "odd", "bad"])
@pytest.mark.parametrize("passwd", [PASSWD, None])
def test_a_user_that_the_image_does_not_know_is_refused_by_line(
    name: str, passwd: str | None
) -> None:
    with pytest.raises(RefusedError) as refused:
        number_of(User(name, "t/task.toml:3, agent.user"), passwd)
    assert refused.value.refusal.field == "t/task.toml:3, agent.user"
