"""What several kinds of lanes share: events, log lines, metrics, views, and tables of accounts."""
