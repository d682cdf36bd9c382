"""Desugaring: many ways to write one thing, in terms of few. Each module has the rewriters of one kind of spelling."""
