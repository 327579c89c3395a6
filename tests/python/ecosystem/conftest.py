"""Settings of the libraries, made before they are imported, and the end of what they start.

They leave the home folder alone, and small networks to one thread.
"""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

HOME = Path(sys.prefix) / "home"
HOME.mkdir(exist_ok=True)
os.environ["HOME"] = str(HOME)
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["RAY_AUTH_MODE"] = "disabled"
# Ray keeps the address of the cluster started last there: that of another run may be gone.
os.environ["RAY_TMPDIR"] = tempfile.mkdtemp(prefix="ray-")
atexit.register(shutil.rmtree, os.environ["RAY_TMPDIR"], ignore_errors=True)
os.environ["RAY_USAGE_STATS_ENABLED"] = "0"


@pytest.fixture(autouse=True, scope="module")
def _no_session_of_ray_stays() -> Iterator[None]:
    """End the session of Ray that a program or a page has begun: others start their own."""
    yield
    if (ray := sys.modules.get("ray")) is not None:
        ray.shutdown()
