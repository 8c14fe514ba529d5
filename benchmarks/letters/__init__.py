"""A task for fault runs: invented letters of numbered lines, and whether one of them names a term. Nothing of it is shipped."""
