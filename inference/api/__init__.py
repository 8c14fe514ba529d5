"""Decisions over REST and server-sent events."""
