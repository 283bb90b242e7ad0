import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

export const OUTPUT = `${ROOT}dist-package/`;

/** The package as npm unpacks it. */
export const STAGE = `${ROOT}node_modules/.cache/package/`;

/** The package in a file, for `npm install` and `npm publish`. */
export const TARBALL = `${ROOT}tabserve.tgz`;
