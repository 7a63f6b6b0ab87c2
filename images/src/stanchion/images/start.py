"""First code of process 1 in a sandbox: finds the bundle's packages, then hands over.

Copied into the bundle as `app/start.py` and started with `-I -S`, so nothing of the image, of the
environment or of the working directory is on the path. It must never import from anywhere else.
"""

import sys

# By hand instead of pathlib: this is the first file that runs, and its start time is measured.
application = __file__.rpartition("/")[0]
prefix = application.rpartition("/")[0]
sys.path += [application, f"{prefix}/lib/python3.11/site-packages"]
try:
    import packed  # type: ignore[import-not-found]  # lies beside this file in the bundle
except ModuleNotFoundError:  # a bundle of other packages
    pass
else:
    packed.use(prefix)

if __name__ == "__main__":
    # Looked up by name: on the host this file is data, and images import no supervisor.
    from importlib import import_module

    sys.exit(import_module("stanchion.supervisor.__main__").main())
