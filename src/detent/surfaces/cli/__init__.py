"""The `detent` command."""
