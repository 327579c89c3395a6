"""Columns as frames of other libraries, which are optional extras."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from endodoi.extras import missing

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt
    import pandas as pd
    import polars as pl

__all__ = ["pandas_frame", "polars_frame"]


def pandas_frame(columns: Mapping[str, npt.NDArray[Any]]) -> pd.DataFrame:
    """Return columns as a pandas frame.

    Raises
    ------
    MissingExtraError
        If pandas is not installed.
    """
    try:
        import pandas as pd  # noqa: PLC0415
    except ImportError as error:
        raise missing("pandas", "pandas") from error
    return pd.DataFrame(columns)


def polars_frame(columns: Mapping[str, npt.NDArray[Any]]) -> pl.DataFrame:
    """Return columns as a polars frame.

    Raises
    ------
    MissingExtraError
        If polars is not installed.
    """
    try:
        import polars as pl  # noqa: PLC0415
    except ImportError as error:
        raise missing("polars", "polars") from error
    return pl.DataFrame(columns)
