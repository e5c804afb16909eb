// Each of these runs after the one before it in its thread.
// $threadId: STRING
// $first: INTEGER
// $last: INTEGER
UNWIND range($first, $last) AS position
MATCH (previous:Run {threadId: $threadId, position: position - 1})
MATCH (r:Run {threadId: $threadId, position: position})
CREATE (previous)-[:NEXT_RUN]->(r)
