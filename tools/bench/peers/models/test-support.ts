import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll } from 'vitest';

import { DECODERS } from '../../../hub-server/checkpoints/decoders.ts';
import { writeCheckpoints } from '../../../hub-server/checkpoints/write-checkpoints.ts';

/** Writes a generated decoder to a folder that is removed after the tests. Returns the folder's URL, ending in `/`. */
export function writeDecoder(id: string): URL {
  const generate = DECODERS.get(id);
  if (!generate) throw new Error(`There is no decoder ${id}.`);
  const folder = mkdtempSync(join(tmpdir(), 'decoder-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  writeCheckpoints(folder, new Map([[id, generate]]));
  return pathToFileURL(`${join(folder, id)}/`);
}
