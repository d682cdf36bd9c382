"""Tests of where the source of functions and the meaning of names come from."""
