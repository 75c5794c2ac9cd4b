"""The issuer's HTTP service: enrolment and tokens."""
