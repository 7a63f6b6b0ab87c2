"""The broker's client: what other parts may import of the broker, and all that they may."""

from stanchion.broker.client.http import BrokerClient, BrokerUnreachableError, CursorGoneError
from stanchion.broker.client.paths import StatePaths

__all__ = ["BrokerClient", "BrokerUnreachableError", "CursorGoneError", "StatePaths"]
