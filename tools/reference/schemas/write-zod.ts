import { writeFileSync } from 'node:fs';
import { z } from 'zod';

import { ZOD_TYPES } from './zod-types.ts';

// Writes what zod makes of its types, as `reference.py` does for Pydantic.

const schemas = Object.entries(ZOD_TYPES).map(([name, type]) => ({
  source: 'zod',
  name,
  schema: JSON.stringify(z.toJSONSchema(type)),
}));
writeFileSync(process.argv[2] ?? 'zod.json', JSON.stringify(schemas));
