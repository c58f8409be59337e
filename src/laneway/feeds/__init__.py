"""What became true, told to the outside: log lines."""
