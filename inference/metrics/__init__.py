"""What is measured and how: one implementation for the API, the pages, experiments and benchmarks. Pure; no rows, no clock."""
