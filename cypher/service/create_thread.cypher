// A new root thread.
// $thread: MAP
// Columns: thread
CREATE (t:Thread)
SET t = $thread
RETURN t {.*} AS thread
