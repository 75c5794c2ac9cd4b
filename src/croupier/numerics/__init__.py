"""Reliable numbers: secure integers, outward rounding, safe bisection, intervals.

Nothing is re-exported here, so that importing one tool does not load the others.
"""
