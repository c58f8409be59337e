"""The curve BLS12-381, of which Prague has seven contracts (EIP-2537)."""
