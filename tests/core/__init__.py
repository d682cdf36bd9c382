"""Tests of trees, source text, places and the printer."""
