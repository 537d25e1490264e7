"""The elicitation table at work: kept in a store, looked up for a case, filled by use or ahead of time."""
