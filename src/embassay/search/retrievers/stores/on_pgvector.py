"""pgvector: a table of PostgreSQL.

All is done in one transaction, which is rolled back at the end: whatever happens, nobody else sees the table, and none
remains.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from embassay.core.errors import EncoderError, first_line_of
from embassay.models.services.secrets import hider
from embassay.search.retrievers.stores.index import Ask, Collection, Nearest, Numbers, Rows

METHODS = {"hnsw": "hnsw", "ivf": "ivfflat"}
SETTINGS = {"ef_search": "hnsw.ef_search", "probes": "ivfflat.probes"}
"""What PostgreSQL calls the numbers of a search; the others are those of an index."""
OPERATORS = {"cosine": "<=>", "dot": "<#>"}
CLASSES = {"cosine": "vector_cosine_ops", "dot": "vector_ip_ops"}


@contextmanager
def in_pgvector(collection: Collection, dsn_env: str) -> Iterator[tuple[Ask, Numbers]]:
    """Hold the rows in a table of the database whose connection string is in an environment variable.

    Raises
    ------
    EncoderError
        If the variable is not set, the database cannot be reached or refuses, or it has not the extension ``vector``.
        No message has the connection string.
    """
    import psycopg
    from pgvector.psycopg import register_vector

    dsn = os.environ.get(dsn_env, "").strip()
    needed = f"set the environment variable {dsn_env} to a connection string, such as postgresql://host/database"
    if not dsn:
        raise EncoderError(f"it has no database: {needed}")
    try:
        password = str(psycopg.conninfo.conninfo_to_dict(dsn).get("password", ""))
    except psycopg.ProgrammingError:
        raise EncoderError(f"the value of {dsn_env} is none: {needed}") from None
    try:
        with psycopg.connect(dsn) as connection:
            # Fails if the database has not the extension.
            register_vector(connection)
            yield _filled(connection, collection), collection.numbers
            connection.rollback()
    except psycopg.Error as error:
        reason = hider([password])(first_line_of(str(error)))
        raise EncoderError(f"PostgreSQL of {dsn_env}: {reason}") from None


def _filled(connection: Any, collection: Collection) -> Ask:
    """Create the table with its index, and return what asks it."""
    from psycopg import sql

    parts = {
        "table": sql.Identifier(f"embassay_{secrets.token_hex(8)}"),
        "width": sql.Literal(collection.rows.shape[1]),
        "operator": sql.SQL(OPERATORS[collection.similarity]),
        "operators": sql.SQL(CLASSES[collection.similarity]),
    }

    def execute(statement: str, *values: object) -> Any:
        return connection.execute(sql.SQL(statement).format(**parts), values)

    execute("CREATE TABLE {table} (place integer, vector vector({width}))")
    copy = sql.SQL("COPY {table} FROM STDIN WITH (FORMAT BINARY, FREEZE)").format(**parts)
    with connection.cursor().copy(copy) as writer:
        writer.set_types(["int4", "vector"])
        for row in enumerate(collection.rows):
            writer.write_row(row)
    if collection.index != "none":
        numbers = [f"{key} = {value}" for key, value in collection.numbers.items() if key not in SETTINGS]
        parts["method"] = sql.SQL(METHODS[collection.index])
        parts["numbers"] = sql.SQL(f"WITH ({', '.join(numbers)})" if numbers else "")
        execute("CREATE INDEX ON {table} USING {method} (vector {operators}) {numbers}")
        # PostgreSQL would read small tables without the index, which is what is measured here.
        execute("SET LOCAL enable_seqscan = off")
    execute("ANALYZE {table}")
    for key, setting in SETTINGS.items():
        if key in collection.numbers:
            execute("SELECT set_config(%s, %s, true)", setting, str(collection.numbers[key]))

    def ask(query: Rows, count: int) -> Nearest:
        statement = "SELECT place, vector {operator} %s FROM {table} ORDER BY vector {operator} %s LIMIT %s"
        found = execute(statement, query, query, count).fetchall()
        places, distances = np.array(found, dtype=np.float64).reshape(-1, 2).T
        # The distance of inner products is their negative.
        similarity = -distances if collection.similarity == "dot" else 1 - distances
        # An index orders by distances of its own, which differ in the last digits.
        return places.astype(np.int64), np.minimum.accumulate(similarity)

    return ask
