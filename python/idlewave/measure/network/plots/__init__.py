"""The network's figures."""
