"""Tests of reports, traces and listings."""
