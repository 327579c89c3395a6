"""Pages of one file: style, scripts and data inside, nothing loaded from elsewhere."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["page", "script_data", "web_file"]


def page(
    template: str, scripts: Sequence[str], data: object, *, title: str, connect: str = "'none'"
) -> str:
    """Return a page as one HTML file.

    Its policy lets run nothing but the scripts and the style that it holds, known by their hashes.

    Parameters
    ----------
    template : str
        The file of the page.
    scripts : sequence of str
        The files of its scripts, in their order.
    data
        What the scripts read, as JSON.
    title : str
        The title.
    connect : str
        Where its scripts may connect to.
    """
    script = "\n".join(web_file(name) for name in scripts)
    style = web_file("style.css")
    policy = "; ".join(
        [
            "default-src 'none'",
            f"script-src '{digest(script)}'",
            f"style-src '{digest(style)}'",
            f"connect-src {connect}",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )
    parts = {
        "policy": policy,
        "title": html.escape(title),
        "style": style,
        "script": script,
        "data": script_data(data),
    }
    # In one pass, so that no part is looked into.
    return re.sub(r"{{(\w+)}}", lambda match: parts[match[1]], web_file(template))


def web_file(name: str) -> str:
    """Return the text of a file of the pages."""
    return (files("endodoi") / "web" / name).read_text(encoding="utf-8")


def script_data(data: Any) -> str:
    """Return JSON that can stand in a script element: no text of it can end the element."""
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=True)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def digest(text: str) -> str:
    """Return the hash of a script or style as a policy names it."""
    whole = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(whole).decode()}"
