"""Derivatives of functions known only as text."""
