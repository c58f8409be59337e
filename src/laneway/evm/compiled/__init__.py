"""Pure: hot code as Python functions, with the gas, errors and effects of the interpreter."""
