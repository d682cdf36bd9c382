"""Tests of the passes that improve a text, each by the numbers and by the text."""
