"""The adversaries of a plan, played."""
