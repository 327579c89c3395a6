"""Check that the relative links of the Markdown pages lead somewhere.

    python python/tools/links.py

Files and headings are checked; addresses on the web are not.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
CODE = re.compile(r"^```.*?^```$|`[^`\n]*`", re.MULTILINE | re.DOTALL)


def pages() -> list[Path]:
    """Return the Markdown files that belong to the project."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"]
    try:
        found = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return sorted([*Path().glob("*.md"), *Path("docs").rglob("*.md")])
    return [path for path in map(Path, found.splitlines()) if path.exists()]


def anchors(page: Path) -> set[str]:
    """Return the anchors that the headings of `page` make."""
    headings = HEADING.findall(page.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") for text in headings}


def broken(page: Path) -> list[str]:
    """Return the links of `page` that lead nowhere."""
    missing = []
    for link in LINK.findall(CODE.sub("", page.read_text(encoding="utf-8"))):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            missing.append(link)
    return missing


def main() -> int:
    """Print every broken link and return the exit status."""
    found = [f"{page}: broken link {link}" for page in pages() for link in broken(page)]
    print("\n".join([*found, f"{len(pages())} pages, {len(found)} broken links"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
