"""What an operator does to accounts without a broker: store their keys, check that they work."""
