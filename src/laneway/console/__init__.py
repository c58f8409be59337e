"""How commands print, reach a server, and end. Commands of all kinds of lanes share it."""
