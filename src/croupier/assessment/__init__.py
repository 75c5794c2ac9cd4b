"""Assessment of plans: the trust ladder, the policy gate, the inverse planner."""
