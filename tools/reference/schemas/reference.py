"""What zod and Pydantic make of their types, as JSON text, because the order of keys is part of it: see README.md."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from pydantic import TypeAdapter
from pydantic_types import PYDANTIC_TYPES
from support import INDENTED_TEXT, write

by_zod = json.loads((Path(sys.argv[1]) / "zod.json").read_text())
by_pydantic = [
    {"source": "pydantic", "name": name, "schema": json.dumps(TypeAdapter(each).json_schema(), ensure_ascii=False)}
    for name, each in PYDANTIC_TYPES.items()
]
write("everyday-schemas", by_zod + by_pydantic, **INDENTED_TEXT)
