"""What became true, sent outside: the event stream, webhooks and metrics."""
