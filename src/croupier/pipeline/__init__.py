"""The running system: what travels, who holds which key, what a client sends."""
