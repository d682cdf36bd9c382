"""Tests of the facts of a normal form: shapes, aliases, activity, mutation."""
