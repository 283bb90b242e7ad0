import { createRequire } from 'node:module';
import * as v from 'valibot';

/** The version in package.json, which the package finds by its own name from wherever this is bundled. */
export const VERSION: string = v.parse(
  v.object({ version: v.string() }),
  createRequire(import.meta.url)('tabserve/package.json'),
).version;
