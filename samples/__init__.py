"""Invented CVs in Turkish and English with their truth records: the demo's input and the tests' oracle.

Pure Python, no Django and no product code: a truth record that used the product's own date arithmetic
could not find a mistake in it. No real person, firm or school stands here.
"""
