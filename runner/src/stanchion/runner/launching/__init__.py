"""From what was asked for to a running attempt: broker, pieces, launch spec, keeper."""
