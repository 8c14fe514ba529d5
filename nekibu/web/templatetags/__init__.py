"""Tags of the interface."""
