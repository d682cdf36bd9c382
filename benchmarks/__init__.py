"""Measurements of what is claimed about speed."""
