"""What dead keepers left behind: found by their notes, named, and taken away only where proved."""
