"""A lane's rows in Redis: the names of its keys, its cells, and the lines of its feed."""
