"""`python -m stanchion.broker`: the broker's commands without the `stanchion` command."""

from stanchion.broker.commands import broker
from stanchion.broker.failures import run_alone

if __name__ == "__main__":
    run_alone(lambda: broker(prog_name="stanchion broker"))
