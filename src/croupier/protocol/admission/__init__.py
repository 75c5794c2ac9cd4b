"""Admission: credentials, enrolment, and tokens that nobody can link to their issuing."""
