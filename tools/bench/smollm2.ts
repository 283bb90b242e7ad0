import { open } from 'node:fs/promises';
import type { Page } from 'playwright';

import type { Dtype } from '../../src/protocol/models.ts';
import type { TabserveStatus } from '../../src/protocol/status.ts';
import fixture from '../reference/fixtures/bench-smollm2-reference.json' with { type: 'json' };
import { createRepository, type HubContent } from '../hub-server/hub-repository.ts';
import { startHubServer, type HubServer } from '../hub-server/hub-server.ts';
import { smollm2File } from '../reference/gguf/smollm2.ts';

/** The real model of the figures, as its hub serves it. */
const SMOLLM2 = 'HuggingFaceTB/SmolLM2-135M-Instruct-GGUF:Q4_1';

/** A prompt of exactly `numTokens`. Some have the continuation that transformers gives greedily in fp32. */
export interface Smollm2Prompt {
  readonly prompt: string;
  readonly numTokens: number;
  readonly greedyTokenIds?: readonly number[];
  readonly greedyText?: string;
}

/** @throws Error for a length or a number that the fixture doesn't have. */
export function smollm2Prompts(numTokens: number, count: number): readonly Smollm2Prompt[] {
  const all: readonly Smollm2Prompt[] = fixture.prompts;
  const found = all.filter((prompt) => prompt.numTokens === numTokens).slice(0, count);
  if (found.length === count) return found;
  throw new Error(`Expected ${count} prompts of ${numTokens} tokens, got ${found.length}`);
}

/** A hub with the model. Close it after use. */
export async function startSmollm2Hub(): Promise<HubServer> {
  const [id = ''] = SMOLLM2.split(':');
  const path = await smollm2File();
  return startHubServer([
    await createRepository(id, new Map([['SmolLM2-135M-Instruct.Q4_1.gguf', await contentOf(path)]])),
  ]);
}

/** @param hub Address of the hub. */
export function loadSmollm2(page: Page, hub: string, dtype: Dtype): Promise<TabserveStatus> {
  const load = [SMOLLM2, { hub, dtype }] as const;
  return page.evaluate(([id, options]) => window.tabserve.loadModel(id, options), load);
}

async function contentOf(path: string): Promise<HubContent> {
  const file = await open(path);
  const { size } = await file.stat();
  return {
    size,
    async read(begin, end) {
      const { buffer } = await file.read(new Uint8Array(end - begin), 0, end - begin, begin);
      return buffer;
    },
  };
}
