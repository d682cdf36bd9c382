"""All directions, or all seeds, at once: a leading axis on every tangent, or on every adjoint."""
