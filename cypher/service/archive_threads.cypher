// Threads that take no new work from now on, and the thread that this was asked of, as it is then.
// $threadId: STRING
// $ids: LIST<STRING>
// Columns: thread
MATCH (t:Thread {id: $threadId})
CALL () {
  UNWIND $ids AS id
  MATCH (archived:Thread {id: id})
  SET archived.status = 'archived'
}
RETURN t {.*} AS thread
