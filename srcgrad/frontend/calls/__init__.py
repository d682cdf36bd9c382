"""Calls: inlining, nested functions, side effects, checkpoints, derivatives in a body."""
