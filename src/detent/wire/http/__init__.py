"""Jobs, events and errors as the service says them over HTTP, and back: both ends share this and nothing else."""
