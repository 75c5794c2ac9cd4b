"""The issuer: enrols people and gives them tokens. It learns who they are, and nothing they say."""
