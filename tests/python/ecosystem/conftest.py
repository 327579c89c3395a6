"""Settings of the libraries, made before they are imported.

They leave the home folder alone, and small networks to one thread.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

HOME = Path(sys.prefix) / "home"
HOME.mkdir(exist_ok=True)
os.environ["HOME"] = str(HOME)
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["RAY_AUTH_MODE"] = "disabled"
os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
