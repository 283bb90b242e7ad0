import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';

import { pathOfModule, scriptOf, VARIANTS } from './kernel-modules.ts';

it.each(VARIANTS)(
  'the module %s is what its sources compile to: else `npm run write -- kernels`',
  async (variant) => {
    expect(await readFile(pathOfModule(variant), 'utf8')).toBe(await scriptOf(variant));
  },
);
