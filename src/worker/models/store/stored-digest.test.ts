import { describe, expect, it } from 'vitest';
import { createSectionDigests } from './stored-digest.ts';

const SECTIONS = [
  { offset: 0, length: 3 },
  { offset: 64, length: 4 },
  { offset: 68, length: 2 },
];

describe('the digests of sections', () => {
  it('are those of xxHash64, whatever the parts and the order of the sections', async () => {
    const digests = await createSectionDigests(SECTIONS);
    digests.add(Uint8Array.of(97), 0);
    digests.add(Uint8Array.of(1, 2), 68);
    digests.add(Uint8Array.of(5), 64);
    digests.add(Uint8Array.of(98, 99), 1);
    digests.add(Uint8Array.of(6, 7, 8), 65);
    const [abc, second] = digests.finish();
    // The value of the xxhash package of PyPI for b'abc' and seed 0.
    expect(abc).toBe('44bc2cf5ad770999');
    const whole = await createSectionDigests(SECTIONS.slice(1, 2));
    whole.add(Uint8Array.of(5, 6, 7, 8), 64);
    expect(whole.finish()).toEqual([second]);
  });

  it('are refused for a part that is not the next of its section, and for a section that is not whole', async () => {
    const digests = await createSectionDigests(SECTIONS);
    digests.add(Uint8Array.of(1), 64);
    expect(() => digests.add(Uint8Array.of(1), 66)).toThrow('at 66');
    expect(() => digests.finish()).toThrow('0 of 3');
  });
});
