"""Tests of the functions that generated text calls."""
