"""The issuer's database: who is enrolled, and who has received the token of a coming round."""
