"""Pure: the contracts that every fork has at fixed addresses, each as a price and a function."""
