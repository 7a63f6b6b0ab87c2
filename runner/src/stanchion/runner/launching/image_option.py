"""What `--image` names: an unpacked root file system, pinned by its digest or not.

A name with a tag is refused: it may mean other content tomorrow. Nothing is pulled from a registry.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from stanchion.images.image_folder import folder_digest
from stanchion.protocol.refusal import refuse

_DIGEST = re.compile(r"@sha256:(?P<hex>[0-9a-f]{64})\Z")
UNPACK = "unpack it, as mkdir DIR && docker export CONTAINER | tar -x -C DIR, and pass --image DIR"


@dataclass(frozen=True, slots=True)
class ImageFolder:
    """A folder that exists, and the digest that it must have, if one was named."""

    folder: Path
    sha256: str | None


def read_image(text: str) -> ImageFolder:
    """The folder of `DIR` or `DIR@sha256:HEX`; RefusedError for everything else."""
    pin = _DIGEST.search(text)
    folder = Path(text[: pin.start()] if pin else text)
    if folder.is_dir():
        return ImageFolder(folder, pin["hex"] if pin else None)
    if pin:
        rule, remedy = "images are not pulled from registries, by digest or otherwise", UNPACK
    elif folder.exists():
        rule, remedy = "is a file, not the folder of an unpacked root file system", UNPACK
    elif text.startswith(("/", ".")):
        rule, remedy = "is a folder that does not exist", UNPACK
    else:
        rule = "is no folder; as a name in a registry it has no digest, and a tag may mean other "
        rule, remedy = f"{rule}content tomorrow", UNPACK
    raise refuse("image_unusable", field="--image", value=text, rule=rule, remedy=remedy)


def check_image(image: ImageFolder) -> None:
    """RefusedError where the folder is not the one that was pinned."""
    if image.sha256 is None:
        return
    found = folder_digest(image.folder)
    if found != image.sha256:
        raise refuse(
            "image_differs",
            field="--image",
            value=f"{image.folder}@sha256:{image.sha256}",
            rule=f"the folder has sha256:{found}",
            remedy=f"unpack the pinned one, or pass --image {image.folder}@sha256:{found}",
        )


def check_no_image(text: str | None) -> None:
    """RefusedError where an image is named for a sandbox that has none."""
    if text is not None:
        raise refuse(
            "image_unusable",
            field="--image",
            value=text,
            rule="--sandbox process shows the host's own programs, and no image",
            remedy="use --sandbox runsc, or leave --image out",
        )
