"""A world so small that every order of its steps can be walked: one lane, a few intents."""
