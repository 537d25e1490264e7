"""Finds out what an endpoint really does: small requests, pure verdicts on what came back, and a profile of it."""
