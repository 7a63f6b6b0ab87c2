# Its place makes `ledger` importable wherever pytest is started from.
