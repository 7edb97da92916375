"""What the service does, a module for each noun. Every module lists its routes."""
