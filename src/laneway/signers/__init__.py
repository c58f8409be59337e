"""Who holds the keys: keystores, the environment, files, remote signers. No secret leaves here."""
