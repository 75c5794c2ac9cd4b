"""Shares and intervals from the sums over all reports."""
