"""Search for plans that meet a target."""
