"""Engines over Socket.IO: they connect to `/engine`, are offered jobs, acknowledge them, and report on them."""
