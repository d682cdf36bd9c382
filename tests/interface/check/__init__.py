"""Tests of the checker of derivatives."""
