"""Pages of decisions and of the engine."""
