"""What `python -m tests.every_form --write` found: how many calls the rule table has, and what does not pass."""

CALLS = 3183
FAILED: dict[str, str] = {}
