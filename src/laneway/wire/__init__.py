"""What is sent over HTTP, on either side of the wire: values, problems, headers, framing."""
