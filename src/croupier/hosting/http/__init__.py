"""HTTP for untrusted clients: sockets, workers, limits, answers, logs and sums."""
