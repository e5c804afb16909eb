"""Benchmarks: what Plait's promises of speed cost and keep, as one table of ratios. Run by `python -m bench`."""
