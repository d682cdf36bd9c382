"""Tests of what users call."""
