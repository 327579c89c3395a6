"""What is said where a library that comes with an optional extra is not installed."""

from __future__ import annotations

from endodoi.errors import MissingExtraError

__all__ = ["lacking", "missing"]


def missing(package: str, extra: str) -> MissingExtraError:
    """Return the error that names the extra which brings a package."""
    return lacking(f"{package} is not installed", extra)


def lacking(fault: str, extra: str) -> MissingExtraError:
    """Return the error that says what is at fault without an extra, and how that is installed."""
    return MissingExtraError(f"{fault}: pip install 'endodoi[{extra}]'", extra=extra)
