// A transfer moves along its state machine; the domain has decided where to.
// $transferId: STRING
// $properties: MAP
// Columns: transfer
MATCH (f:ContextTransfer {id: $transferId})
SET f += $properties
RETURN f {.*} AS transfer
