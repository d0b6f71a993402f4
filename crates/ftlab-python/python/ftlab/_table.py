"""Tables: columns that any library which speaks Arrow takes without copying them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ftlab import _ftlab
from ftlab._errors import missing

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import polars as pl
    import pyarrow as pa


def polars_of(rows: Any) -> pl.DataFrame:
    """A DataFrame of polars."""
    try:
        import polars
    except ImportError:
        raise missing("polars") from None
    return polars.DataFrame(rows, strict=False)


def pandas_of(rows: Any) -> pd.DataFrame:
    """A DataFrame of pandas."""
    try:
        import pandas
    except ImportError:
        raise missing("pandas") from None
    frame: pd.DataFrame = pandas.DataFrame(rows)
    return frame


#: The rows that a notebook shows.
_SHOWN = 10


class Table:
    """A table in memory, with a unit for each column.

    polars, pandas, pyarrow, duckdb and others take it as it is (Arrow PyCapsule interface), without a copy:
    ``polars.DataFrame(table)``, ``duckdb.from_arrow(table)``.
    """

    def __init__(self, columns: _ftlab.Columns) -> None:
        self._columns = columns

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return self._columns.names

    @property
    def units(self) -> dict[str, str]:
        """The unit of each column, or what its codes mean."""
        return self._columns.units

    @property
    def metadata(self) -> dict[str, str]:
        """What a row is (``about``), and more that the table says of itself."""
        return self._columns.metadata

    def __len__(self) -> int:
        return len(self._columns)

    def __getitem__(self, column: str) -> np.ndarray[Any, Any]:
        """A column as an array of NumPy. Unknown numbers are NaN."""
        return self._columns.numpy(column)

    def to_numpy(self) -> dict[str, np.ndarray[Any, Any]]:
        """All columns as arrays of NumPy."""
        return {name: self._columns.numpy(name) for name in self.columns}

    def to_polars(self) -> pl.DataFrame:
        """The table as a DataFrame of polars, without a copy."""
        return polars_of(self)

    def to_arrow(self) -> pa.Table:  # pyright: ignore[reportUnknownParameterType]  # It has no types.
        """The table as one of pyarrow, without a copy."""
        try:
            import pyarrow
        except ImportError:
            raise missing("pyarrow") from None
        return pyarrow.table(self)  # pyright: ignore[reportUnknownVariableType]

    def to_pandas(self) -> pd.DataFrame:
        """The table as a DataFrame of pandas."""
        return pandas_of(self.to_numpy())

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._columns.__arrow_c_stream__(requested_schema)

    def __arrow_c_array__(self, requested_schema: object = None) -> object:
        return self._columns.__arrow_c_array__(requested_schema)

    def _repr_html_(self) -> str:
        import html

        head = "".join(f"<th>{html.escape(name)}</th>" for name in self.columns)
        columns = [self[name][:_SHOWN].tolist() for name in self.columns]
        rows = "".join(
            "<tr>" + "".join(f"<td>{html.escape(str(value))}</td>" for value in row) + "</tr>"
            for row in zip(*columns, strict=True)
        )
        more = f"<p>{len(self):,} rows, of which {_SHOWN} are shown. " if len(self) > _SHOWN else "<p>"
        about = html.escape(self.metadata.get("about", ""))
        return f"<table><tr>{head}</tr>{rows}</table>{more}{about}</p>"

    def __repr__(self) -> str:
        about = self.metadata.get("about", "")
        return f"<Table of {len(self):,} rows: {', '.join(self.columns)}. {about}>"
