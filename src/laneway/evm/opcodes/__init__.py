"""Pure: what each opcode does, grouped as the Yellow Paper groups them."""
