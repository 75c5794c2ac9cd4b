"""Messages, signatures and file formats that the parties share."""
