"""What a handler is given beside its arguments."""


class Context:
    """The job that a handler works on, and what it may say and ask while it does."""
