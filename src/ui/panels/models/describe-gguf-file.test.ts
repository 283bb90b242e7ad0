import { expect, it } from 'vitest';

import { describeGgufFile } from './describe-gguf-file.ts';

it.each([
  [{ name: 'a-Q4_1.gguf', numBytes: 93e6, fit: 'fits' }, '93.0 MB, fits this device'],
  [{ name: 'a-Q8_0.gguf', numBytes: 4e9, fit: 'tight' }, '4.00 GB, fits this device with fewer bits'],
  [{ name: 'a-F16.gguf', numBytes: 8e10, fit: 'too-large' }, '80.0 GB, too large for this device'],
  [{ name: 'a.gguf', numBytes: 1e9 }, '1.00 GB'],
] as const)('a file is described with its size and whether it fits: %o', (file, text) => {
  expect(describeGgufFile(file)).toBe(text);
});
