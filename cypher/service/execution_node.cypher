// What is known of a native child by its provider's own id. Null where it was never heard of.
// $provider: STRING
// $nativeId: STRING
// Columns: node
OPTIONAL MATCH (n:ExecutionNode {provider: $provider, nativeId: $nativeId})
RETURN n {.*} AS node
