"""The first minute: the promise being kept, while one watches."""
