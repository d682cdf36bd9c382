"""Functions of public packages as their authors wrote them, drawn by a seed; gradients against differences."""
