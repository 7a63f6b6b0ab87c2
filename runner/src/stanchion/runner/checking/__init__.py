"""Whether a task can tell a solution from nothing, before any model sees it."""
