"""The contract devnet on the event loop: in the process, and on a socket."""
