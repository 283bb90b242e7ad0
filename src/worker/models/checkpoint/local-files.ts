import type { CheckpointFiles } from './checkpoint-files.ts';

/** Files that the user has picked, by name. Their folders are ignored. */
export function localFiles(files: readonly File[]): CheckpointFiles {
  const byName = new Map(files.map((file) => [file.name, file]));
  return {
    open(name) {
      const file = byName.get(name);
      return Promise.resolve(
        file && {
          name,
          size: file.size,
          read: async (begin, end) => new Uint8Array(await file.slice(begin, end).arrayBuffer()),
        },
      );
    },
  };
}
