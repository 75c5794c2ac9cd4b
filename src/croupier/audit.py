"""What was `croupier.audit` is `croupier.auditing`; the function `croupier.audit` stays."""

from croupier.errors import RenamedError

raise RenamedError("the package croupier.audit", "croupier.auditing")
