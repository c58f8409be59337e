"""Pure: frames, their memory and stack, and the loop that runs code."""
