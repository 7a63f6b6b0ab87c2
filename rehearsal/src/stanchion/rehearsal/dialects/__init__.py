"""The provider APIs that the rehearsal speaks, one pure module for each."""
