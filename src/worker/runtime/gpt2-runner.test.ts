import { describe, expect, it } from 'vitest';
import type { KvSlot } from '../../batching/generation/kv-slots.ts';
import type {
  DecodeStep,
  PrefillStep,
  Step,
  StepOutput,
  StepRow,
} from '../../batching/generation/model-runner.ts';
import type { SamplingParams } from '../../batching/generation/request.ts';
import { createRequestId } from '../ids.ts';
import { Gpt2Runner } from './gpt2-runner.ts';
import { ScriptedBackend } from './scripted-backend.ts';

const GREEDY: SamplingParams = {
  temperature: 0,
  topK: 0,
  topP: 1,
  minP: 0,
  repetitionPenalty: 1,
  presencePenalty: 0,
  frequencyPenalty: 0,
  logitBias: {},
  numLogprobs: undefined,
  seed: 0,
};

function row(slot: number, startPosition: number, ...tokenIds: number[]): StepRow {
  return {
    requestId: createRequestId(),
    slot: kvSlot(slot),
    startPosition,
    tokenIds,
    sampling: GREEDY,
    tokenCounts: new Map(),
  };
}

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a brand has no other way in
const kvSlot = (slot: number) => slot as KvSlot;

const prefill = (isLastChunk: boolean, prefillRow: StepRow): PrefillStep => ({
  kind: 'prefill',
  row: prefillRow,
  isLastChunk,
});
const decode = (rows: StepRow[], moves: DecodeStep['moves'] = []): DecodeStep => ({
  kind: 'decode',
  isBehind: false,
  rows,
  moves,
});

function createRunner() {
  const backend = new ScriptedBackend();
  const runner = new Gpt2Runner(backend, ScriptedBackend.config);
  const run = (step: Step): Promise<StepOutput> => runner.start(step).output;
  return { backend, runner, run };
}

describe('Gpt2Runner', () => {
  it('prefills in the staging row and copies it to the slot with the last chunk alone', async () => {
    const { backend, run } = createRunner();
    const first = await run(prefill(false, row(2, 0, 5, 6)));
    const last = await run(prefill(true, row(2, 2, 7)));
    expect([first.tokenIds, last.tokenIds]).toEqual([[], [8]]);
    expect(backend.calls).toEqual([
      'reserve 1x128',
      'forward staging 1x2 ids 5,6 positions 0,1 last 1',
      'finish',
      'reserve 1x128',
      'forward staging 1x1 ids 7 positions 2 last 2',
      'reserve 4x128',
      'staging to 2',
      'sample staging',
    ]);
  });

  it('decodes rows of different lengths in one pass, after the moves', async () => {
    const { backend, run } = createRunner();
    const [from, to] = [row(3, 0).slot, row(1, 0).slot];
    const output = await run(decode([row(0, 9, 4), row(1, 20, 30), row(2, 3, 11)], [{ from, to }]));
    expect(output).toEqual({
      tokenIds: [5, 31, 12],
      logprobs: [undefined, undefined, undefined],
      runMs: 2,
      readbackMs: 3,
    });
    expect(backend.calls).toEqual([
      'move 3 to 1',
      'reserve 4x128',
      'forward slots 3x1 ids 4,30,11 positions 9,20,3 last 9,20,3',
      'sample slots',
    ]);
  });

  it('grows the capacity in powers of two up to the context length', async () => {
    const { backend, run } = createRunner();
    await run(decode([row(0, 127, 1)]));
    await run(decode([row(0, 128, 1)]));
    await run(decode([row(0, 256, 1)]));
    expect(backend.calls.filter((call) => call.startsWith('reserve'))).toEqual([
      'reserve 1x128',
      'reserve 1x256',
      'reserve 1x300',
    ]);
  });

  it('fails only the row whose logits have no next token', async () => {
    const { backend, run } = createRunner();
    backend.poison = 30;
    const { tokenIds } = await run(decode([row(0, 1, 4), row(1, 1, 30), row(2, 1, 7)]));
    expect(tokenIds).toEqual([5, expect.objectContaining({ code: 'MODEL_RUN_FAILED' }), 8]);
  });
});
