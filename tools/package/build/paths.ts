import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** The folder of the package's entries. */
export const OUTPUT = `${ROOT}dist-package/`;

export function sourceOf(path: string): string {
  return ROOT + path;
}
