"""The service: what others reach over HTTP. Nothing outside this package knows about HTTP, nor do `live` and `line`."""
