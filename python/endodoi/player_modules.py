"""Python files as modules of their own: a file and what it imports from its folder.

Nothing outside sees these modules: neither a search path nor the bare name of a module changes, so
that a file may have the name of any library, and files of several folders helpers of one name.
"""

from __future__ import annotations

import builtins
import hashlib
import importlib
import importlib.machinery
import importlib.util
import sys
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

__all__ = ["DIGEST", "digest_of_text", "module_of"]

#: The name under which a module holds the SHA-256 of its text.
DIGEST = "__player_file_sha256__"

#: What the names of all packages made here begin with.
PREFIX = "_endodoi_players_"


def digest_of_text(text: str) -> str:
    """Return the SHA-256 of the text of a file."""
    return hashlib.sha256(text.encode()).hexdigest()


def module_of(file: Path) -> ModuleType:
    """Return the module of a file, which is run once; what it raises is raised."""
    name = f"{package_of(file.parent)}.{file.stem.replace('.', '_')}"
    known = sys.modules.get(name)
    if known is not None and known.__file__ == str(file):
        return known
    loader = Loader(name, str(file))
    module = ModuleType(name)
    module.__file__, module.__loader__, module.__package__ = str(file), loader, ""
    module.__spec__ = importlib.machinery.ModuleSpec(name, loader, origin=str(file))
    sys.modules[name] = module
    try:
        loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def package_of(folder: Path) -> str:
    """Return the name of the package whose modules are the files of a folder."""
    name = PREFIX + hashlib.sha256(str(folder).encode()).hexdigest()[:16]
    if name not in sys.modules:
        package = ModuleType(name)
        package.__path__ = [str(folder)]
        sys.modules[name] = package
        if not any(isinstance(finder, Finder) for finder in sys.meta_path):
            sys.meta_path.insert(0, Finder())
    importlib.invalidate_caches()
    return name


class Finder:
    """Finds the modules of these packages, and gives them imports of their own."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, _target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Find a module of a package that was made here."""
        if not name.startswith(PREFIX) or path is None:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        if spec is not None and isinstance(spec.loader, importlib.machinery.SourceFileLoader):
            spec.loader = Loader(name, spec.loader.path)
        return spec


class Loader(importlib.machinery.SourceFileLoader):
    """Runs the text of a file as it is now."""

    def get_code(self, _fullname: str) -> Any:
        """Compile the text; compiled files beside it are neither read nor written."""
        return self.source_to_code(self.get_data(self.path), self.path)

    def exec_module(self, module: ModuleType) -> None:
        """Run the text with imports that see its folder first."""
        folder = module.__name__.partition(".")[0]
        importer = "" if self.is_package(module.__name__) else module.__name__
        own = Imports(folder, importer)
        setattr(module, DIGEST, digest_of_text(self.get_source(module.__name__) or ""))
        vars(module)["__builtins__"] = {**vars(builtins), "__import__": own}
        super().exec_module(module)


class Imports:
    """The imports of a file, which see its folder first; they are called as ``__import__`` is.

    A file that has the name of a library gets the library.

    Parameters
    ----------
    folder : str
        The name of the package of the folder.
    importer : str
        The name of the file's module; empty for a package.
    """

    def __init__(self, folder: str, importer: str) -> None:
        self.folder = folder
        self.importer = importer
        #: What the file imports as ``importlib``.
        self.library = ModuleType("importlib", importlib.__doc__)
        vars(self.library).update(
            import_module=self.import_module, __getattr__=partial(getattr, importlib)
        )

    def beside(self, name: str) -> str | None:
        """Return the full name of a module of the folder, None where there is none."""
        first = f"{self.folder}.{name.partition('.')[0]}"
        return f"{self.folder}.{name}" if first != self.importer and is_there(first) else None

    def import_module(self, name: str, package: str | None = None) -> ModuleType:
        """Import a module as `importlib.import_module` does."""
        beside = None if name.startswith(".") else self.beside(name)
        return importlib.import_module(name if beside is None else beside, package)

    def __call__(
        self,
        name: str,
        global_names: Mapping[str, object] | None = None,
        local_names: Mapping[str, object] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> ModuleType:
        """Import a module as ``import`` does."""
        beside = self.beside(name) if level == 0 else None
        if beside is None:
            found = builtins.__import__(name, global_names, local_names, fromlist or (), level)
            return self.library if found is importlib else found
        importlib.import_module(beside)
        if fromlist:
            return builtins.__import__(beside, global_names, local_names, list(fromlist), 0)
        return sys.modules[f"{self.folder}.{name.partition('.')[0]}"]


def is_there(name: str) -> bool:
    """Tell whether a package has such a module; a folder without code is none."""
    if name in sys.modules:
        return True
    spec = importlib.util.find_spec(name)
    return spec is not None and spec.loader is not None
