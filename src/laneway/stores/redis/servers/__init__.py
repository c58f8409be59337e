"""Connections to one server or a Cluster: what a server must be like, its errors and its news."""
