"""What stands inside a message or an output: words, images, files and sounds."""

from __future__ import annotations

from collections.abc import Iterator

from bough.formats.media import from_base64, media_at, to_url
from bough.formats.payload import as_dict, as_list, as_text, at, text_or_none
from bough.model import Json, Media, Other, Text

FAMILY = "openai.responses"
WORDS = {"input_text": "text", "output_text": "text", "text": "text", "refusal": "refusal"}


def read_parts(content: Json, where: str) -> Iterator[Text | Media | Other]:
    if isinstance(content, str):
        yield Text(content)
    elif content is not None:
        for position, part in enumerate(as_list(content, where)):
            yield _read_part(as_dict(part, f"{where}[{position}]"), f"{where}[{position}]")


def _read_part(part: dict[str, Json], where: str) -> Text | Media | Other:
    raw = {FAMILY: part}
    match as_text(part.get("type"), f"{where}.type"):
        case kind if kind in WORDS:
            return Text(as_text(part.get(WORDS[kind]), f"{where}.{WORDS[kind]}"), raw=raw)
        case "input_image" | "computer_screenshot" as kind:
            return read_image(part, raw) or Other(kind, raw)
        case "input_file":
            return _read_file(part, raw) or Other("input_file", raw)
        case "input_audio" if (data := from_base64(at(part, "input_audio", "data"))) is not None:
            return Media("audio", f"audio/{at(part, 'input_audio', 'format')}", data=data, raw=raw)
        case kind:
            return Other(kind, raw)


def read_image(part: dict[str, Json], raw: Json) -> Media | None:
    if isinstance(url := part.get("image_url"), str):
        return media_at(url, raw)
    if isinstance(file_id := part.get("file_id"), str):
        return Media("image", "", file_id=file_id, raw=raw)
    return None


def _read_file(part: dict[str, Json], raw: Json) -> Media | None:
    name = text_or_none(part.get("filename"))
    for key in ("file_data", "file_url"):
        if isinstance(url := part.get(key), str):
            return media_at(url, raw, "document", name)
    if isinstance(file_id := part.get("file_id"), str):
        return Media("document", "", file_id=file_id, name=name, raw=raw)
    return None


def spoken(content: Json, where: str) -> str:
    """The words of an assistant's message, refusals included."""
    return "\n".join(part.text for part in read_parts(content, where) if isinstance(part, Text))


def write_media(media: Media) -> dict[str, Json] | None:
    """The part for media of another family, or None when there is none for it."""
    url = to_url(media)
    if media.kind == "image" and url and not url.startswith(("gs:", "s3:")):
        return {"type": "input_image", "image_url": url, "detail": "auto"}
    if media.kind == "document" and media.data is not None:
        return {"type": "input_file", "filename": media.name or "document", "file_data": url}
    if media.kind == "document" and url and url.startswith("http"):
        return {"type": "input_file", "file_url": url}
    return None
