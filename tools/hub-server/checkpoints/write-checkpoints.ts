import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { GeneratedCheckpoint } from './generated-checkpoint.ts';
import type { GeneratedFile } from './generated-file.ts';

const CHUNK_BYTES = 2 ** 24;

/** Writes each checkpoint to a folder of its own, whose path below `folder` is its id. */
export function writeCheckpoints(
  folder: string,
  checkpoints: ReadonlyMap<string, () => GeneratedCheckpoint>,
): void {
  for (const [id, generate] of checkpoints) {
    const target = join(folder, id);
    for (const [name, file] of generate()) writeFile(join(target, name), file);
  }
}

function writeFile(path: string, file: GeneratedFile): void {
  mkdirSync(dirname(path), { recursive: true });
  const descriptor = openSync(path, 'w');
  for (let begin = 0; begin < file.size; begin += CHUNK_BYTES) {
    writeSync(descriptor, file.read(begin, Math.min(file.size, begin + CHUNK_BYTES)));
  }
  closeSync(descriptor);
}
