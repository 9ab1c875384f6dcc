"""The error that stops a release."""


class ReleaseError(Exception):
    """An error for the user, with a hint."""

    def __init__(self, message, hint=None):
        super().__init__(message)
        self.hint = hint
