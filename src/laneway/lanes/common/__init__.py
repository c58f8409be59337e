"""What all machines share: events, records, modes, drains, the backlog, reading old records."""
