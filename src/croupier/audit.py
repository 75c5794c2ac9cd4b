"""The former package `croupier.audit`, now `croupier.auditing`; the function of that name stays."""

from croupier.errors import RenamedError

raise RenamedError("the package croupier.audit", "croupier.auditing")
