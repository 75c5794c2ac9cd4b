"""What a plan leaks to whom: the trust ladder, the policy gate, the inverse planner."""
