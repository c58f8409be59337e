"""What a JAM chain decides about the reports in a block (Gray Paper 0.7.2, §§11–13); pure."""
