"""The proofs that nothing acknowledged is lost and nothing half-done looks done."""
