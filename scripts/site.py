"""Hooks of MkDocs: pages from the top of the repository, files that pages link to, and what is in no list yet."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parent.parent
TOP = ("ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")
"""Pages at the top of the repository, which are at the top of the site too."""
FOLDERS = {"In depth": "", "How to": "guides/", "Under your SDK": "adapters/", "Reference": "reference/"}
"""Where pages go that the navigation does not list."""
LINK = re.compile(r"(\]\()(?!https?:|#|mailto:)([^)#\s]+)([^)]*\))")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Puts the pages of adapters, and those that the navigation does not list, into their sections of it."""
    listed = str(config.nav)
    for section in config.nav or []:
        for title, folder in FOLDERS.items():
            if title in section:
                found = sorted(str(path.relative_to(ROOT / "docs")) for path in (ROOT / "docs").glob(f"{folder}*.md"))
                section[title] += [uri for uri in found if uri not in listed]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the pages at the top of the repository, and the files that pages link to."""
    for name in TOP:
        files.append(File.generated(config, name, content=(ROOT / name).read_text("utf-8")))
    for file in list(files.documentation_pages()):
        source = ROOT / ("" if file.src_uri in TOP else "docs") / file.src_uri
        for _, link, _ in LINK.findall(source.read_text("utf-8")):
            target = (source.parent / link).resolve()
            uri = _uri(target)
            if target.is_file() and not target.is_relative_to(ROOT / "docs") and uri not in files.src_uris:
                files.append(File.generated(config, uri, content=target.read_bytes()))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001
    """Links relative to the place of a page in the site, where that is not its place in the repository."""
    uri = page.file.src_uri
    source = ROOT / ("" if uri in TOP else "docs") / uri

    def moved(found: re.Match[str]) -> str:
        target = _uri((source.parent / found[2]).resolve())
        depth = uri.count("/")
        return f"{found[1]}{'../' * depth}{target}{found[3]}"

    return LINK.sub(moved, markdown)


def _uri(target: Path) -> str:
    """The place in the site of a file of the repository. A directory is its list, or its first page."""
    if target.is_dir():
        inside: Any = target / "README.md"
        target = inside if inside.exists() else min(target.glob("*.md"), default=target)
    docs = ROOT / "docs"
    return str(target.relative_to(docs if target.is_relative_to(docs) else ROOT))
