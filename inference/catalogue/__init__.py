"""What things cost and how caches behave: rows with a date, a source and the people who compared them with it."""
