"""Tests of the project itself: documentation, package, structure, examples, kept texts."""
