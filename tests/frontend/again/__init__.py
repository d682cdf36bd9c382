"""Tests of generated text that is differentiated once more."""
