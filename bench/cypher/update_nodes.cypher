// What stands on these nodes now, named as the database calls them.
// $rows: LIST<MAP>
UNWIND $rows AS row
MATCH (n) WHERE elementId(n) = row.at
SET n += row.properties
