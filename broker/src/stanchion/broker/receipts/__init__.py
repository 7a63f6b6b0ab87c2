"""What is put on record: chained, signed, durable before anything that rests on it."""
