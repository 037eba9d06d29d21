"""Benchmarks: our work beside plain baselines in the same run, reported as ratios."""
