"""The one exception of the package."""


class FirstlightError(Exception):
    """Something the user can mend: bad usage, bad input, a missing file.

    The message is one line that says what went wrong, where, what came and what was expected.
    The command line prints it without a traceback and exits with 2.
    """
