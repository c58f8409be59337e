"""Who signs: keystore, environment, file, remote."""
