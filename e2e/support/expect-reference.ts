import { expect } from 'playwright/test';

import { greedyTokenIds, reference, withoutEnd } from './reference.ts';
import type { Tab } from './tab.ts';

/** The model runs, and is the embedded one or its twin: the tokens are those of PyTorch. */
export async function expectReferenceTokens(tab: Tab): Promise<void> {
  const [entry] = reference.prompts;
  if (!entry) throw new Error('There is no reference prompt');
  const { tokenIds } = await tab.generate(entry.prompt, { temperature: 0, maxNewTokens: 8 });
  expect(withoutEnd(tokenIds)).toEqual(greedyTokenIds(entry, 8));
}
