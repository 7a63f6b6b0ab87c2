"""The modules that process 1 imports, in one file: read by one descriptor, not looked up by path.

In gVisor each look at a path is a call to another process, and an import takes several: 40 % of the
supervisor's start. Copied into the bundle as `app/packed.py`; as a program it writes the file from
the compiled modules beside it, in the bundle's own interpreter. What is not in the file is imported
as ever. Standard library only, and as little of it as can be: this is part of the start.
"""

import marshal
import os
import sys
from importlib._bootstrap_external import SourceFileLoader, spec_from_file_location

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import CodeType, ModuleType

NAME = "modules.packed"
PYC_HEAD_BYTES = 16
"""Before the code of a compiled module (PEP 552)."""
SIZE_BYTES = 8
"""The length of the list of modules, at the end of the file."""


class _Loader(SourceFileLoader):
    """A module's code from the file; its source and data from where they lie, as ever."""

    def __init__(self, name: str, path: str, code: "tuple[int, int, int]") -> None:
        super().__init__(name, path)
        self._code = code

    def get_code(self, fullname: str) -> "CodeType | None":  # noqa: ARG002 - one loader a module
        file, offset, size = self._code
        code: CodeType = marshal.loads(os.pread(file, size, offset))  # noqa: S302 - as a pyc is
        return code


class _Finder:
    """Knows the modules of one file."""

    def __init__(self, prefix: str, file: int) -> None:
        self._prefix = prefix
        self._file = file
        end = os.fstat(file).st_size - SIZE_BYTES
        size = int.from_bytes(os.pread(file, SIZE_BYTES, end), "little")
        self._modules: dict[str, tuple[str, bool, int, int]] = marshal.loads(  # noqa: S302 - ours
            os.pread(file, size, end - size)
        )

    def find_spec(
        self,
        name: str,
        path: "Sequence[str] | None" = None,  # noqa: ARG002 - the importer's signature
        target: "ModuleType | None" = None,  # noqa: ARG002
    ) -> "ModuleSpec | None":
        if name not in self._modules:
            return None
        inside, is_package, offset, size = self._modules[name]
        source = f"{self._prefix}/{inside}"
        folders = [source.rpartition("/")[0]] if is_package else None
        loader = _Loader(name, source, (self._file, offset, size))
        return spec_from_file_location(
            name, source, loader=loader, submodule_search_locations=folders
        )


def use(prefix: str) -> None:
    """Import from the bundle's file, if there is one."""
    try:
        file = os.open(f"{prefix}/app/{NAME}", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return
    sys.meta_path.insert(-1, _Finder(prefix, file))


def write(prefix: str) -> None:
    """Put everything that is imported by now and lies below the bundle into its file."""
    listed: dict[str, tuple[str, bool, int, int]] = {}
    with open(f"{prefix}/app/{NAME}", "wb") as file:  # noqa: PTH123 - see above
        for name, module in sorted(sys.modules.items()):
            spec = getattr(module, "__spec__", None)  # some are no real modules
            if spec is None or not spec.cached or not spec.origin:
                continue
            try:
                with open(spec.cached, "rb") as compiled:  # noqa: PTH123
                    code = compiled.read()[PYC_HEAD_BYTES:]
            except FileNotFoundError:
                continue  # never compiled: imported as ever
            is_package = spec.submodule_search_locations is not None
            inside = spec.origin.removeprefix(f"{prefix}/")
            listed[name] = (inside, is_package, file.tell(), len(code))
            file.write(code)
        last = marshal.dumps(listed)
        file.write(last + len(last).to_bytes(SIZE_BYTES, "little"))


def _main(prefix: str) -> None:
    sys.path += [f"{prefix}/app", f"{prefix}/lib/python3.11/site-packages"]
    from importlib import import_module

    import_module("stanchion.supervisor.__main__")
    registry = import_module("stanchion.harness_adapters.registry")
    for name in registry.NAMES:
        registry.adapter(name)
    write(prefix)


if __name__ == "__main__":
    _main(sys.argv[1])
