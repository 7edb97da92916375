"""What travels with a job for those who watch: its trace, and what must not be seen of it. No I/O, no other layer."""
