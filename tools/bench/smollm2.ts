import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Page } from 'playwright';

import type { Dtype } from '../../src/protocol/models.ts';
import type { TabserveStatus } from '../../src/protocol/status.ts';
import fixture from '../reference/fixtures/bench-smollm2-reference.json' with { type: 'json' };
import { createRepository } from '../hub-server/hub-repository.ts';
import { startHubServer, type HubServer } from '../hub-server/hub-server.ts';
import { smollm2File } from '../reference/gguf/smollm2.ts';

/** The real model of the figures, as its hub serves it. */
const SMOLLM2 = 'HuggingFaceTB/SmolLM2-135M-Instruct-GGUF:Q4_1';

/** Some have the continuation that transformers gives greedily. */
export interface ReferencePrompt {
  readonly prompt: string;
  readonly greedyTokenIds?: readonly number[];
  readonly greedyText?: string;
}

/**
 * Prompts of exactly `numTokens`, with continuations in fp32.
 *
 * @throws Error for a length or a number that the fixture doesn't have.
 */
export function smollm2Prompts(numTokens: number, count: number): readonly ReferencePrompt[] {
  const found = fixture.prompts.filter((prompt) => prompt.numTokens === numTokens).slice(0, count);
  if (found.length === count) return found;
  throw new Error(`Expected ${count} prompts of ${numTokens} tokens, got ${found.length}`);
}

/** A hub with the model. Close it after use. */
export async function startSmollm2Hub(): Promise<HubServer> {
  const [id = ''] = SMOLLM2.split(':');
  const path = await smollm2File();
  return startHubServer([createRepository(id, new Map([[basename(path), await readFile(path)]]))]);
}

export function loadSmollm2(page: Page, hub: string, dtype: Dtype): Promise<TabserveStatus> {
  const load = [SMOLLM2, { hub, dtype }] as const;
  return page.evaluate(([id, options]) => window.tabserve.loadModel(id, options), load);
}
