"""Side channels: what participation, number and length of messages leak."""
