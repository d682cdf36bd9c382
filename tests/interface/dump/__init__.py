"""Tests of files that `srcgrad dump` writes."""
