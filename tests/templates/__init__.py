"""Tests of the rules: each against differences, conventions, ranges, kinds of arguments."""
