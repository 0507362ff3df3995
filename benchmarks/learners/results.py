"""results/learners.json: one row a table, scheme and method, written whole as soon as it is known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

Row = dict[str, Any]


class Results:
    """tables: name -> facts. rows: in the order in which they were run."""

    def __init__(self, path: Path) -> None:
        self.path = path
        stored = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        self.tables: dict[str, dict[str, Any]] = stored.get("tables", {})
        self.rows: list[Row] = stored.get("rows", [])

    def find(self, table: str, scheme: str, method: str) -> Row | None:
        wanted = (table, scheme, method)
        return next((row for row in self.rows if (row["table"], row["scheme"], row["method"]) == wanted), None)

    def add(self, row: Row) -> None:
        """Keep a row, in the place of one of the same name."""
        known = self.find(row["table"], row["scheme"], row["method"])
        if known is not None:
            self.rows.remove(known)
        self.rows.append(row)
        self.write()

    def describe(self, table: str, facts: dict[str, Any]) -> None:
        """Keep what is told of a table. Rows of another table under the same name are dropped: they do not compare."""
        known = self.tables.get(table)
        if known is not None and known["digest"] != facts["digest"]:
            self.rows = [row for row in self.rows if row["table"] != table]
        self.tables[table] = facts
        self.write()

    def write(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        part = self.path.with_suffix(".part")
        part.write_text(self._text(), encoding="utf-8")
        part.replace(self.path)

    def _text(self) -> str:
        """JSON with a line a table and a row, so that a new row is one new line."""
        tables = [f"  {json.dumps(name)}: {json.dumps(facts)}" for name, facts in self.tables.items()]
        rows = [f"  {json.dumps(row)}" for row in self.rows]
        joined = ["{", ' "tables": {', ",\n".join(tables), " },", ' "rows": [', ",\n".join(rows), " ]", "}"]
        return "\n".join(line for line in joined if line) + "\n"
