import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { ggufVariantFiles } from './variants.ts';

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('Expected a folder to write the files to.');
mkdirSync(folder, { recursive: true });
for (const [name, bytes] of await ggufVariantFiles()) writeFileSync(join(folder, name), bytes);
