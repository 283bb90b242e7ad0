import { expect, it } from 'vitest';

import { instantiateKernels } from './compile-kernels.ts';

const EMPTY_MODULE = Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0);

it('a module that lacks a kernel is refused with the command that compiles it anew', async () => {
  const memory = new WebAssembly.Memory({ initial: 1, maximum: 1 });
  await expect(instantiateKernels(new WebAssembly.Module(EMPTY_MODULE), memory)).rejects.toThrow(
    /lacks activate, .*sumCodes. Run: npm run write -- kernels/,
  );
});
