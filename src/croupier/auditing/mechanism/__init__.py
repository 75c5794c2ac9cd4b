"""Tests of a mechanism's epsilon_local by calling it."""
