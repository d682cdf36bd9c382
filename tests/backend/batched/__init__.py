"""Tests of texts with a leading axis."""
