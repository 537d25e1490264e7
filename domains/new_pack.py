"""A domain pack to start from: a small working example with comments, to be replaced file by file."""

from pathlib import Path

from domains.errors import BadInput
from domains.pack import PACK_NAME

_SKELETON = Path(__file__).parent / "skeleton"


def write_new_pack(name: str, parent: Path) -> Path:
    """Write the skeleton of a pack into the new folder `parent/name`, and return that.

    Raises:
        BadInput: a name that no pack can have, or there is something of that name already, or it cannot be written.
    """
    if not PACK_NAME.fullmatch(name):
        raise BadInput.at("NAME", "a pack's name has no other characters than a-z, 0-9, _ and -")
    folder = parent / name
    try:
        folder.mkdir(parents=True)
        for source in sorted(_SKELETON.iterdir()):
            text = source.read_text("utf-8").replace("$name", name)
            (folder / source.name).write_text(text, "utf-8", newline="\n")
    except FileExistsError:
        raise BadInput.at(str(folder), "is there already; nothing was written") from None
    except OSError as error:
        raise BadInput.at(str(folder), f"cannot be written ({error.strerror})") from None
    return folder
