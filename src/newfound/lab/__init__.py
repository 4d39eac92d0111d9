"""Reproduction of the paper, quality suites and data sets."""
