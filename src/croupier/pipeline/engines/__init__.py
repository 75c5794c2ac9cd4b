"""Where the heavy lifting of a batch is done: one machine, or a cluster."""
