"""Attacks and audits: what can be measured of a leak, with intervals that hold."""
