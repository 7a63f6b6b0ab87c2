"""What can go wrong while the pieces are put in place, each with the next command.

Every message names the thing, the rule and the remedy in one sentence; `fix` repeats the remedy as
a command that can be pasted, or is None where no command helps.
"""


class ImagesError(Exception):
    """One of the pieces a run needs cannot be had; the message is for people."""

    def __init__(self, sentence: str, *, fix: str | None = None) -> None:
        super().__init__(sentence)
        self.fix = fix


class UnsupportedHostError(ImagesError):
    """This machine cannot make the piece at all (another system, another processor, not root)."""


class MissingToolError(ImagesError):
    """A program that the system's package manager provides is not installed."""


class ToolFailedError(ImagesError):
    """A program ended with an error; the message carries its last words."""


class IntegrityError(ImagesError):
    """Bytes differ from what is pinned, or a stored piece was changed after it was stored."""
