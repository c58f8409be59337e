"""Worlds of Cosmos accounts: sequence lanes on the chain model, with all that befalls both."""
