"""Parquet."""

from pathlib import Path

from kgflow.export.format import FolderFormat, names, parts
from kgflow.runs.run import Run


class Parquet(FolderFormat):
    """entities.parquet and relations.parquet: names, labels, types, and a column for each part."""

    name = "parquet"
    about = "tables of entities and relations, rows as trained"

    def fill(self, run: Run, folder: Path) -> None:
        """Two tables."""
        import polars as pl

        data = run.data
        entities = pl.DataFrame(
            {
                "name": names(run, "entity"),
                "label": [data.label(i) for i in range(len(data.entities))],
                "types": [list(data.types.get(name, ())) for name in data.entities],
            },
            schema={"name": pl.String, "label": pl.String, "types": pl.List(pl.String)},
        )
        relations = pl.DataFrame({"name": names(run, "relation")}, schema={"name": pl.String})
        for kind, frame in (("entity", entities), ("relation", relations)):
            columns = [pl.Series(part, rows) for part, rows in parts(run, kind).items()]
            file = "entities.parquet" if kind == "entity" else "relations.parquet"
            frame.with_columns(columns).write_parquet(folder / file)
