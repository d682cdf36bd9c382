"""From tree to text: expressions, statements, broken lines."""
