"""Derivatives as functions: `grad`, `vjp`, `jacobian`, `each`, `blocked`, and rules of users."""
