"""Words for those who take part: parties, senders, and people who lie."""
