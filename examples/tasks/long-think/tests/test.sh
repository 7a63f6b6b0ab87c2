#!/bin/sh
# Grades the work folder. Exit codes 0 and 1 are pytest's verdicts; any other means that the tests
# did not run, and then there is no reward rather than a zero.
set -u
mkdir -p /logs/verifier
cd /tests || exit 3 # not the work folder, where a file could pose as pytest

PYTHONDONTWRITEBYTECODE=1 python3 -c 'import pytest' || exit 3
PYTHONDONTWRITEBYTECODE=1 python3 -m pytest -q -p no:cacheprovider --rootdir=/tests /tests
verdict=$?

case $verdict in
    0) echo 1 > /logs/verifier/reward.txt ;;
    1) echo 0 > /logs/verifier/reward.txt ;;
    *) exit "$verdict" ;;
esac
