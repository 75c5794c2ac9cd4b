"""Plots: into files, into pages, into notebooks."""
