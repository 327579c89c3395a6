"""Run the command ``endodoi`` as ``python -m endodoi``."""

import sys

from endodoi.cli import main

sys.exit(main())
