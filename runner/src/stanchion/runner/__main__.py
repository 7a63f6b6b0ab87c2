"""`stanchion` and `python -m stanchion.runner`."""

from stanchion.runner.cli.root import main

__all__ = ["main"]

if __name__ == "__main__":
    main()
