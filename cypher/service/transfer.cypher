// One transfer.
// $transferId: STRING
// Columns: transfer
MATCH (f:ContextTransfer {id: $transferId})
RETURN f {.*} AS transfer
