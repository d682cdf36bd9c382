"""Tests of how adjoints and tangents are made: masks, records, regularity."""
