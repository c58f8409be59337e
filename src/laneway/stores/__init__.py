"""Where rows outlive the process: memory (tests), sqlite (embedded) and postgres (shared)."""
