"""The former package `croupier.service`, now part of the shuffler."""

from croupier.errors import RenamedError

raise RenamedError("the package croupier.service", "croupier.shuffler.http")
