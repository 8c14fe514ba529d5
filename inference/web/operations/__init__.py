"""Pages of the operations area: what many decisions took, cost and shared, and the way from every figure to its decisions."""
