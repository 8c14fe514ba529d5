"""Readers of foreign files, one format each: pure functions from bytes to frozen values, run in a limited child."""
