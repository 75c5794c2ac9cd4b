"""Plots, tables and pages for people."""
