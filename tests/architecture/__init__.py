"""Walks over everything: what holds for one address, table or process has to hold for all of them."""
