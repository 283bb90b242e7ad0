import { fileURLToPath } from 'node:url';

// The packages are in a folder above this one.
export default { turbopack: { root: fileURLToPath(new URL('../..', import.meta.url)) } };
