"""The expected positive part of a sum of independent terms, enclosed."""
