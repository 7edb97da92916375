"""What a process of Detent's own tells of itself: metrics, log lines, spans. Light: every child process imports it."""
