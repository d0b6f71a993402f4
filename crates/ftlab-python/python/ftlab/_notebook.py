"""The notebook that this process serves, if it serves one."""

from __future__ import annotations

import sys
from typing import Any


def shell() -> Any:
    """The shell of IPython if the kernel of a notebook runs it, else None. IPython may be imported without a notebook."""
    ipython: Any = sys.modules.get("IPython")
    found = None if ipython is None else ipython.get_ipython()
    return found if hasattr(found, "kernel") else None
