import type { ClientUpdate } from '../../src/client/index.ts';
import { eosTokenId, reference } from './reference.ts';
import type { TextRequest } from './tab.ts';

/** One greedy request per length, with the reference prompts in order. None of them ends before its length. */
export function requestsOf(...lengths: readonly number[]): TextRequest[] {
  return lengths.map((maxNewTokens, index) => ({
    prompt: reference.prompts[index]?.prompt ?? '',
    options: { temperature: 0, maxNewTokens, logitBias: { [eosTokenId]: -100 } },
  }));
}

/** Starts and ends of requests in order, as `started A, finished A`. A is the first reference prompt. */
export function sequenceOf(updates: readonly ClientUpdate[]): string {
  const letters = new Map<string, string>();
  const events = updates.flatMap((update) => {
    if (update.type === 'submitted') {
      const index = reference.prompts.findIndex(({ prompt }) => prompt === update.input);
      letters.set(update.requestId, 'ABCDEFGHI'[index] ?? '?');
    }
    if (['submitted', 'accepted', 'chunk'].includes(update.type)) return [];
    return [`${update.type} ${letters.get(update.requestId) ?? '?'}`];
  });
  return events.join(', ');
}
