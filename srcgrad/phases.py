"""A function after any pass, as Python, and what is known of it there."""

from srcgrad.interface.show.explain import explain_facts, explain_text, run

__all__ = ["explain_facts", "explain_text", "run"]
