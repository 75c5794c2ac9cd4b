"""What leaks beside the content of messages: participation, number, length."""
