import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { GeneratedCheckpoint } from './generated-checkpoint.ts';

const CHUNK_BYTES = 2 ** 24;

/** Writes each checkpoint to a folder of its own, whose path below `folder` is its id. */
export function writeCheckpoints(
  folder: string,
  checkpoints: ReadonlyMap<string, () => GeneratedCheckpoint>,
): void {
  for (const [id, generate] of checkpoints)
    for (const [name, file] of generate()) {
      const path = join(folder, id, name);
      mkdirSync(dirname(path), { recursive: true });
      for (let begin = 0; begin < file.size; begin += CHUNK_BYTES) {
        const chunk = file.read(begin, Math.min(file.size, begin + CHUNK_BYTES));
        writeFileSync(path, chunk, { flag: begin === 0 ? 'w' : 'a' });
      }
    }
}
