"""The output of commands, on screen and in files."""
