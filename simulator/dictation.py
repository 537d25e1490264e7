"""What the stand-in says to somebody who tries a connection: plain dictations, which need no world.

They are the requests of `crosspath doctor`. Asked for a form, the stand-in keeps it, as a server does that enforces it.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from domains.question import Message
from simulator import draws
from simulator.replies import Reply

_OBJECT = re.compile(r"Reply with this JSON object and nothing else: (\{.*\})$")
_WORD = re.compile(r"Reply with the single word (\w+), and not with JSON\.$")
_COUNT = re.compile(r"Reply with the whole numbers from 1 to (\d{1,4}), separated by spaces\.$")
_RANDOM = re.compile(r"Think of a whole number of (\d{1,2}) digits, at random\.")
_RECALL = re.compile(r"Reply with the code words stated above", re.IGNORECASE)
_CODE_WORD = re.compile(r"\bThe (first|second|third) code word is ([a-z]+)\.")
_ORDER = ("first", "second", "third")
LOST = "unknown"
"""Said for a code word that the prompt does not hold."""


def dictated(messages: Sequence[Message], seed: int, form: str, schema: Mapping[str, Any]) -> Reply | None:
    """The reply to a dictation, or None if the last message is none. `form` is the response format's type, `schema`
    that of `json_schema`."""
    last = messages[-1].content if messages else ""
    if (found := _OBJECT.search(last)) is not None:
        return Reply(json.dumps(_kept(json.loads(found[1]), schema)))
    if (found := _WORD.search(last)) is not None:
        return Reply(found[1] if form == "text" else json.dumps({"word": found[1]}))
    if (found := _COUNT.search(last)) is not None:
        return Reply(" ".join(map(str, range(1, int(found[1]) + 1))))
    if (found := _RANDOM.search(last)) is not None:
        digits = int(found[1])
        return Reply(json.dumps({"number": draws.key("dictation", seed, messages) % (9 * 10 ** (digits - 1))}))
    if _RECALL.search(last) is not None:
        stated = dict(_CODE_WORD.findall("\n".join(message.content for message in messages)))
        return Reply(json.dumps({"words": [stated.get(place, LOST) for place in _ORDER]}))
    return None


def _kept(value: dict[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """The members as the schema allows them: the first of an enumeration stands for what is not in it."""
    allowed = {name: member["enum"] for name, member in schema.get("properties", {}).items() if "enum" in member}
    return {
        name: content if content in allowed.get(name, [content]) else allowed[name][0]
        for name, content in value.items()
    }
