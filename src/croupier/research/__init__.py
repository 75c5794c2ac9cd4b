"""Results of the papers that no command uses."""
