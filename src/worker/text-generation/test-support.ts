import { expect, vi } from 'vitest';
import { DEFAULT_POLICY } from '../../batching/generation/policy.ts';
import type { ChatTemplate } from '../models/tokenizer/chat-template.ts';
import type { GenerationResult } from '../../protocol/generation.ts';
import { createClientId, createRequestId, type RequestId } from '../../protocol/ids.ts';
import { END_TYPES, type RequestUpdate, type Resumption } from '../../protocol/requests.ts';
import { ScriptedBackend } from '../testing/scripted-backend.ts';
import { createScriptedModel, runToEnd } from '../test-support.ts';
import { ModelGenerator } from './model-generator.ts';
import type { Accepted, Submission } from './submissions.ts';

/** Builders for the tests of this folder; production code never imports this file. */

/** Reads and accepts submissions at once. */
export function submitAll(
  generator: Pick<ModelGenerator, 'readAll'>,
  submissions: readonly Submission[],
): readonly Accepted[] {
  return runToEnd(generator.readAll(submissions)).value();
}

/** A generator with a model that counts up through the alphabet, and its updates. */
export function createGenerator(bytes?: ReadonlyMap<number, Uint8Array>, chatTemplate?: ChatTemplate) {
  const backend = new ScriptedBackend();
  const model = createScriptedModel(backend, { bytes, chatTemplate });
  const batches: (readonly RequestUpdate[])[] = [];
  const updates: RequestUpdate[] = [];
  /** `decode 3: 6`: its rows and the tokens that they feed in. */
  const steps: string[] = [];
  const idle = Promise.withResolvers<void>();
  const generator: ModelGenerator = new ModelGenerator(model, DEFAULT_POLICY, {
    onUpdates: (batch) => {
      batches.push(batch);
      updates.push(...batch);
    },
    onStep: ({ kind, rows, numTokens }) => {
      steps.push(`${kind} ${rows.length}: ${numTokens}`);
      if (generator.gauges.numRunning + generator.gauges.numWaiting === 0) idle.resolve();
    },
    onEnded: () => generator.gauges.numRunning + generator.gauges.numWaiting === 0 && idle.resolve(),
    onRuntimeLost: () => {},
  });
  const submit = (prompt: unknown, options: unknown = {}, resumption?: Resumption): RequestId => {
    const requestId = createRequestId();
    // The lost worker and the start of the next one took a second.
    const elapsedMs = resumption ? 1000 : 0;
    submitAll(generator, [
      {
        requestId,
        clientId: createClientId(),
        input: prompt,
        options,
        elapsedMs,
        ...(resumption && { resumption }),
      },
    ]);
    return requestId;
  };
  const whenEnded = (requestId: RequestId): Promise<unknown> =>
    vi.waitFor(() =>
      expect(updates.some((update) => update.requestId === requestId && END_TYPES.has(update.type))).toBe(
        true,
      ),
    );
  return { generator, backend, model, batches, updates, steps, submit, whenEnded, idle: idle.promise };
}

/** The text of each chunk. */
export function textsIn(updates: readonly RequestUpdate[]): string[] {
  return updates.flatMap((update) => (update.type === 'chunk' ? [update.text] : []));
}

export function resultIn(updates: readonly RequestUpdate[]): GenerationResult {
  const finished = updates.find((update) => update.type === 'finished');
  if (!finished) throw new Error('No request has finished.');
  return finished.result;
}
