#!/bin/sh
set -eu
python3 - <<'PYTHON'
from pathlib import Path

path = Path("/work/ledger/shares.py")
before = path.read_text()
after = before.replace(
    """    share = round(total / len(people))
    return dict.fromkeys(people, share)
""",
    """    share, odd_cents = divmod(total, len(people))
    return {person: share + (index < odd_cents) for index, person in enumerate(people)}
""",
)
assert after != before, "the bug is not where it was expected"
path.write_text(after)
PYTHON
