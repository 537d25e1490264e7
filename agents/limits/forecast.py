"""How many tokens a request will take, before it is sent."""

from agents.replies import Usage

BYTES_PER_TOKEN = 4.0
MEMORY = 50
"""Requests over which what was seen is averaged."""


class Forecast:
    """Expected tokens: a quarter of the body's bytes, and the largest reply allowed, both scaled by what was seen.

    Nothing was seen before the first reply: then the largest reply is expected, and the first requests go slowly.
    """

    def __init__(self, max_output_tokens: int) -> None:
        self._most_output = max_output_tokens
        self._prompt_scale = 1.0
        self._output_scale = 1.0
        self._seen = 0

    def tokens(self, body_bytes: int) -> float:
        """What a request with a body of this size will probably take."""
        return body_bytes / BYTES_PER_TOKEN * self._prompt_scale + self._most_output * self._output_scale

    def learn(self, body_bytes: int, usage: Usage) -> None:
        """What one took; a count that the server did not give teaches nothing."""
        if usage.prompt is None or usage.completion is None:
            return
        self._seen = min(self._seen + 1, MEMORY)
        self._prompt_scale += (usage.prompt * BYTES_PER_TOKEN / body_bytes - self._prompt_scale) / self._seen
        self._output_scale += (usage.completion / self._most_output - self._output_scale) / self._seen
