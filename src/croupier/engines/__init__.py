"""Engines that mix and count batches of any size."""
