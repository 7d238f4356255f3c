"""`python -m tests.adapters.programs NAME WHERE URL KEY QUESTION…`"""

from __future__ import annotations

import sys
from importlib import import_module

name, where, url, key, *questions = sys.argv[1:]
ask = import_module(f"tests.adapters.programs.{name}").ask
for question in questions:
    print(ask(where, url, key, question), flush=True)
