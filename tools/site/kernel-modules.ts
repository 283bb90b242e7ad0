import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { MODULES, writeKernels } from './cpu-kernels.ts';

const FOLDER = join(import.meta.dirname, '../../src/worker/cpu/kernels/modules');
export const VARIANTS = ['relaxed-simd', 'simd'] as const;

export const pathOfModule = (variant: string): string => join(FOLDER, `${variant}.ts`);

/** The kernels as scripts, which any bundler ships, and Node runs: compiled from their sources, in base64. */
export async function scriptOf(variant: string): Promise<string> {
  await writeKernels();
  const module = await readFile(join(MODULES, `${variant}.wasm`), 'base64');
  return `/** Compiled from \`../assembly\`, in base64: \`npm run write -- kernels\`. */\nexport const MODULE =\n  '${module}';\n`;
}

if (import.meta.main) {
  for (const variant of VARIANTS) await writeFile(pathOfModule(variant), await scriptOf(variant));
}
