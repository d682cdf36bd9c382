"""Tests of what the frontend accepts, refuses and rewrites."""
