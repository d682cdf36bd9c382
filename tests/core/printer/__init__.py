"""Tests of how trees become text."""
