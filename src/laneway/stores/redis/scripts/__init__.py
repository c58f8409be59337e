"""The scripts that run on the server, and the calls that ask for them."""
