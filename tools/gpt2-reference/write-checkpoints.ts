import { mkdirSync, openSync, writeSync, closeSync } from 'node:fs';
import { join } from 'node:path';
import { CHECKPOINTS } from '../../e2e/hub-server/checkpoints/checkpoints.ts';
import type { GeneratedFile } from '../../e2e/hub-server/checkpoints/generated-file.ts';

const CHUNK_BYTES = 2 ** 24;

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('Expected a folder to write the checkpoints to.');
for (const [id, generate] of CHECKPOINTS) {
  const target = join(folder, id);
  mkdirSync(target, { recursive: true });
  for (const [name, file] of generate()) writeFile(join(target, name), file);
}

function writeFile(path: string, file: GeneratedFile): void {
  const descriptor = openSync(path, 'w');
  for (let begin = 0; begin < file.size; begin += CHUNK_BYTES) {
    writeSync(descriptor, file.read(begin, Math.min(file.size, begin + CHUNK_BYTES)));
  }
  closeSync(descriptor);
}
