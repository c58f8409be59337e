"""What the nodes of all devnets share."""
