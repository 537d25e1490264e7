"""The fleet: the same runs shared out to workers over Redis. Needs the extra `distributed`."""
