"""What is used of how gast makes its trees."""

from typing import Any

from gast import AST

class Ast3ToGAst:
    def visit(self, node: Any) -> AST: ...
