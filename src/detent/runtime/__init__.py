"""The worker: it runs handlers as the record says. It knows handlers, and not the app that declared them."""
