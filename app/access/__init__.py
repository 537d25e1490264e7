"""Who may ask, how much at a time, and how the service stops: all that stands between the socket and the routes."""
