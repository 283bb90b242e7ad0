import type { RequestView } from '../state/request-view.ts';
import { idOf } from '../test-support.ts';

/** A request of this tab that is over. */
export function createRequest(name: string, change: Partial<RequestView> = {}): RequestView {
  return {
    id: idOf(name),
    status: 'finished',
    prompt: `${name}:`,
    generatedTexts: [' text'],
    numOutputTokens: 64,
    finishReason: 'length',
    seed: 7,
    ...change,
  };
}

/** A run of these requests, which has ended. */
export function createTables(requests: readonly RequestView[], namesOfRun: readonly string[]) {
  const run = { startedAtMs: 1000, endedAtMs: 1600, requestIds: namesOfRun.map(idOf), isExperiment: false };
  return { requests: new Map(requests.map((request) => [request.id, request])), runs: { prompts: run } };
}
