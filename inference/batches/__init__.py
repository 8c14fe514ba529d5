"""Many questions that have time: PostgreSQL is their queue, a message only the doorbell, and each becomes one decision."""
