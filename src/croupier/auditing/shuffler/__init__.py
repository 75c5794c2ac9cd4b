"""Tests of a shuffler by the rows that it released."""
