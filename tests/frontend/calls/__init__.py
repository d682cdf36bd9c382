"""Tests of calls: inlining, nested functions, effects, checkpoints."""
