"""Tests of the ways in which a program becomes a text."""
