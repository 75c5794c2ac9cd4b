"""What the parties share: messages, signatures, file formats."""
