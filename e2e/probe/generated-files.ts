import type { CheckpointFiles } from '../../src/worker/models/checkpoint/checkpoint-files.ts';
import type { GeneratedCheckpoint } from '../../tools/hub-server/checkpoints/generated-checkpoint.ts';

/** A checkpoint as a folder that the product reads. */
export function generatedFiles(files: GeneratedCheckpoint): CheckpointFiles {
  return {
    open(name) {
      const file = files.get(name);
      return Promise.resolve(
        file && { name, size: file.size, read: (begin, end) => Promise.resolve(file.read(begin, end)) },
      );
    },
  };
}
