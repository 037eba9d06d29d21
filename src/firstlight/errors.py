"""The exceptions of the package: mistakes of the user, and trainings that diverge."""


class FirstlightError(Exception):
    """Something the user can mend: bad usage, bad input, a missing file.

    The message is one line that says what went wrong, where, what came and what was expected.
    The command line prints it without a traceback and exits with 2.
    """


class Diverged(RuntimeError):  # noqa: N818  # what happened, rather than whose fault it is
    """The loss or a gradient of a training is no longer a number; what was learnt before is on disk."""
