import { fileURLToPath } from 'node:url';

const ROOT = new URL('../', import.meta.url);

/** @param path Below the root of the repository. */
export function pathOf(path: string): string {
  return fileURLToPath(new URL(path, ROOT));
}
