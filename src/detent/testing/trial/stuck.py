"""What a trial says when it could go on for ever."""


class Stuck(BaseException):
    """Somebody waits for what will never come, or there is no end to what is due.

    No `Exception`: it may come up inside a handler, and it is the test that has to hear of it.
    """
