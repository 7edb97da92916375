"""The doors: command line now; HTTP, sockets and buses later."""
