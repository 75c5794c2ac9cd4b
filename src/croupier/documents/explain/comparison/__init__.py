"""The page of a change from one plan to another, for its reviewers."""
