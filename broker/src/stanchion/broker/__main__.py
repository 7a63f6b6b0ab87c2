"""`python -m stanchion.broker`: the broker's commands without the `stanchion` command."""

from stanchion.broker.commands import broker

if __name__ == "__main__":
    broker(prog_name="stanchion broker")
