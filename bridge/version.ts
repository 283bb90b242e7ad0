import { readFileSync } from 'node:fs';
import * as v from 'valibot';

const MANIFEST = new URL('../package.json', import.meta.url);

/** The version in package.json. */
export const VERSION: string = v.parse(
  v.object({ version: v.string() }),
  JSON.parse(readFileSync(MANIFEST, 'utf8')),
).version;
