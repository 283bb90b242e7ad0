import { readFileSync } from 'node:fs';
import type { CountedFamily } from './probe/dispatches.ts';
import { expect, IS_WHOLE, test } from './support/test.ts';

/** It has all that is fused. */
const IN_SHORT: CountedFamily = 'Llama';

const FAMILIES: readonly CountedFamily[] = ['GPT-2', 'Llama', 'Qwen 3', 'Gemma 3'];

/** The rows of the table in the document that are about a family: layers, dispatches when run and when replayed. */
function documented(family: CountedFamily): readonly number[] {
  const page = readFileSync(new URL('../docs/measurements/gpu.md', import.meta.url), 'utf8');
  const row = page.split('\n').find((line) => line.startsWith(`| ${family} `));
  return (row ?? '').split('|').slice(2, 5).map(Number);
}

for (const family of FAMILIES)
  test(`a decode step of ${family} takes as many dispatches as documented`, async ({
    probePage,
    backend,
  }) => {
    test.skip(backend === 'wasm', 'the CPU has no dispatches');
    test.skip(!IS_WHOLE && family !== IN_SHORT, 'each compiles its shaders for seconds');
    const [numLayers = 0, run, replayed] = documented(family);
    const counts = await probePage.evaluate((input) => window.probe.countDispatches(...input), [
      family,
      numLayers,
    ] as const);
    expect(counts).toEqual({ run, replayed });
  });
