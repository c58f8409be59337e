"""Where rows outlive the process: memory (tests, simulator) and sqlite (the embedded default)."""
