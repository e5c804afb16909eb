// Nodes of any kind, as they are given; `ids` are what the database calls them, in the order of the rows.
// $rows: LIST<MAP>
// Columns: ids
UNWIND $rows AS row
CREATE (n:$(row.labels))
SET n = row.properties
RETURN collect(elementId(n)) AS ids
