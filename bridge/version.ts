import { readFileSync } from 'node:fs';
import * as v from 'valibot';

const MANIFEST = new URL('../package.json', import.meta.url);

/** Of this server, as package.json has it. */
export const VERSION: string = v.parse(
  v.object({ version: v.string() }),
  JSON.parse(readFileSync(MANIFEST, 'utf8')),
).version;
