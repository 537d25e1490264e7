"""Jobs: runs that the service keeps for its callers (`/batch`), on disk, followed by events."""
