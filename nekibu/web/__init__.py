"""The frame of the interface: home, health, engine status, error pages and the parts that pages are made of."""
