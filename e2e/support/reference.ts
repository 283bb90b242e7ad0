import { readFileSync } from 'node:fs';

/** Values that PyTorch computes in fp32 for one prompt. */
export interface ReferencePrompt {
  readonly prompt: string;
  readonly promptTokenIds: readonly number[];
  /** The largest logits after the prompt's last token, in descending order. */
  readonly top20: { readonly ids: readonly number[]; readonly logits: readonly number[] };
  readonly logitsL2: number;
  readonly logitsMean: number;
  /** Greedy continuation; it does not stop at the end token. */
  readonly greedyTokenIds: readonly number[];
}

interface Reference {
  readonly prompts: readonly ReferencePrompt[];
  readonly longPrompt: ReferencePrompt;
}

const MODEL = new URL('../../public/models/storyteller/', import.meta.url);

export const reference: Reference = readJson(
  new URL('../../tools/reference/fixtures/storyteller-reference.json', import.meta.url),
);

export const { eos_token_id: eosTokenId }: { readonly eos_token_id: number } = readModelJson('config.json');

/** The engine's greedy tokens for the prompt. The engine stops at the end token, the reference does not. */
export function greedyTokenIds(
  { greedyTokenIds: ids }: ReferencePrompt,
  maxNewTokens = ids.length,
): readonly number[] {
  const limited = ids.slice(0, maxNewTokens);
  const end = limited.indexOf(eosTokenId);
  return end === -1 ? limited : limited.slice(0, end);
}

/** Drops the end token, because the engine decides whether a result includes it. */
export function withoutEnd(tokenIds: readonly number[]): readonly number[] {
  return tokenIds.at(-1) === eosTokenId ? tokenIds.slice(0, -1) : tokenIds;
}

export function readModelFile(name: string): Buffer {
  return readFileSync(new URL(name, MODEL));
}

// oxlint-disable-next-line typescript/no-explicit-any -- what JSON holds is for the caller to say
export function readModelJson(name: string): any {
  return readJson(new URL(name, MODEL));
}

// oxlint-disable-next-line typescript/no-explicit-any -- as above
function readJson(url: URL): any {
  return JSON.parse(readFileSync(url, 'utf8'));
}
