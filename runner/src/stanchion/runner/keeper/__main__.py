"""`python -m stanchion.runner.keeper`: reads its order, keeps one attempt, exits.

Always exits 0 where it could report; the report, not the exit code, says what happened.
"""

import sys

from stanchion.protocol.codec import CodecError, decode
from stanchion.runner.keeper.order import Failed, Order
from stanchion.runner.keeper.process import run, tell


def main() -> int:
    """Keep the attempt of the order on standard input."""
    data = sys.stdin.buffer.read()
    if not data:  # whoever started it needs none after all
        return 0
    try:
        order = decode(data, Order)
    except CodecError as error:
        tell(Failed(why=f"standard input holds no order: {error}"))
        return 2
    return run(order)


if __name__ == "__main__":
    sys.exit(main())
