// Relationships of any kind between nodes that are named as the database calls them.
// $rows: LIST<MAP>
UNWIND $rows AS row
MATCH (source) WHERE elementId(source) = row.source
MATCH (target) WHERE elementId(target) = row.target
CREATE (source)-[e:$(row.kind)]->(target)
SET e = row.properties
