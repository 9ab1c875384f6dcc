"""What stands in the way of a release."""


class ReleaseError(Exception):
    """Told to the user, with what to do about it."""

    def __init__(self, message, hint=None):
        super().__init__(message)
        self.hint = hint
