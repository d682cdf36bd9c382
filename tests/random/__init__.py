"""Programs drawn from Python's reference rather than from what srcgrad accepts, their judges, and what shrinks them."""
