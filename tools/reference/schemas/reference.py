"""Writes what Pydantic makes of its types, as JSON text: the order of keys is part of it. `reference.py TARGET`"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from pydantic import TypeAdapter
from pydantic_types import PYDANTIC_TYPES

Path(sys.argv[1]).write_text(
    json.dumps(
        [
            {"source": "pydantic", "name": name, "schema": json.dumps(TypeAdapter(each).json_schema(), ensure_ascii=False)}
            for name, each in PYDANTIC_TYPES.items()
        ]
    )
)
