"""Failed comparisons of the helper modules show both sides, as those of a test file do."""

import pytest

pytest.register_assert_rewrite("conformance.wire.expecting", "conformance.wire.over_sockets")
