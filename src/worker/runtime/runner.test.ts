import { describe, expect, it } from 'vitest';
import type { KvSlot } from '../../batching/generation/kv-slots.ts';
import type {
  DecodeStep,
  PrefillStep,
  Step,
  StepOutput,
  StepRow,
} from '../../batching/generation/model-runner.ts';
import { GREEDY } from '../../batching/generation/request.ts';
import { createRequestId } from '../../protocol/ids.ts';
import { BackendRunner } from './runner.ts';
import { ScriptedBackend } from '../testing/scripted-backend.ts';
import { errorWith } from '../testing/error-with.ts';

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

const KV_SHAPE = { numSlots: 4, numStagingRows: 1, capacity: 128, numSnapshots: 0 };

const prefill = (rows: StepRow[], step: Partial<PrefillStep> = {}): PrefillStep => ({
  kind: 'prefill',
  kvShape: KV_SHAPE,
  transfers: [],
  rows,
  isLastChunk: true,
  reusedSlot: undefined,
  ...step,
});
const decode = (rows: StepRow[], transfers: DecodeStep['transfers'] = []): DecodeStep => ({
  kind: 'decode',
  kvShape: KV_SHAPE,
  transfers,
  isBehind: false,
  rows,
});

function createRunner() {
  const backend = new ScriptedBackend();
  const runner = new BackendRunner(backend);
  const run = (step: Step): Promise<StepOutput> => runner.start(step).output;
  return { backend, runner, run };
}

function idsOf({ samples }: StepOutput): readonly (number | Error)[] {
  return samples.map((sample) => (sample instanceof Error ? sample : sample.tokenId));
}

describe('BackendRunner', () => {
  it('prefills in the staging row and copies it to the slot with the last chunk alone', async () => {
    const { backend, run } = createRunner();
    const first = await run(prefill([row(2, 0, 5, 6)], { isLastChunk: false }));
    const last = await run(prefill([row(2, 2, 7)]));
    expect([idsOf(first), idsOf(last)]).toEqual([[], [8]]);
    expect(backend.calls).toEqual([
      'resize 4+1x128',
      'forward staging 1x2 ids 5,6 positions 0,1 last 1',
      'finish',
      'resize 4+1x128',
      'forward staging 1x1 ids 7 positions 2 last 2',
      'staging to 2',
      'sample staging',
    ]);
  });

  it('scores a prompt with the logits of the tokens before, beside the one that is sampled from', async () => {
    const { backend, run } = createRunner();
    const scoring = { targetTokenIds: [6, 9], numLogprobs: 2 };
    const output = await run(prefill([{ ...row(2, 0, 5, 6, 9), scoring }]));
    expect(idsOf(output)).toEqual([10]);
    expect(backend.calls[1]).toBe('forward staging 1x3 ids 5,6,9 positions 0,1,2 last 2 scored 0,1');
    // One logit is 1 and 63 are 0.
    const total = Math.log(63 + Math.E);
    expect(output.promptLogprobs).toEqual([
      { tokenId: 6, logprob: expect.closeTo(1 - total, 6), top: expect.anything() },
      {
        tokenId: 9,
        logprob: expect.closeTo(-total, 6),
        top: [
          { tokenId: 7, logprob: expect.closeTo(1 - total, 6) },
          { tokenId: 0, logprob: expect.closeTo(-total, 6) },
        ],
      },
    ]);
  });

  it('scores a chunk that is not the last, and the first token alone, of which there is nothing to score', async () => {
    const { backend, run } = createRunner();
    const scoring = { targetTokenIds: [6, 7], numLogprobs: 0 };
    const first = await run(prefill([{ ...row(2, 0, 5, 6), scoring }], { isLastChunk: false }));
    const only = await run(
      prefill([{ ...row(2, 0, 5), scoring: { targetTokenIds: [], numLogprobs: 3 } }], { isLastChunk: false }),
    );
    expect(first).toMatchObject({ samples: [], promptLogprobs: [{ tokenId: 6 }, { tokenId: 7 }] });
    expect(only).toMatchObject({ samples: [], promptLogprobs: [] });
    expect(backend.calls.filter((call) => call.startsWith('forward'))).toEqual([
      'forward staging 1x2 ids 5,6 positions 0,1 last 1 scored 0,1',
      'forward staging 1x1 ids 5 positions 0 last 0 scored ',
    ]);
  });

  it('fails a prompt whose logits have no softmax', async () => {
    const { backend, run } = createRunner();
    backend.poison = 5;
    const scoring = { targetTokenIds: [6], numLogprobs: 0 };
    const output = await run(prefill([{ ...row(2, 0, 5, 6), scoring }]));
    expect(output.promptLogprobs).toEqual(errorWith('MODEL_RUN_FAILED', 'NaN'));
  });

  it('prefills prompts of different lengths in one pass, padded on the right', async () => {
    const { backend, run } = createRunner();
    const kvShape = { ...KV_SHAPE, numStagingRows: 2 };
    const output = await run(prefill([row(1, 0, 5, 6, 7), row(3, 0, 11)], { kvShape }));
    expect(idsOf(output)).toEqual([8, 12]);
    expect(backend.calls).toEqual([
      'resize 4+2x128',
      'forward staging 2x3 ids 5,6,7,11,0,0 positions 0,1,2,0,1,2 last 2,0',
      'staging to 1,3',
      'sample staging',
    ]);
  });

  it("prefills behind another sequence's prefix, which a transfer may then overwrite", async () => {
    const { backend, run } = createRunner();
    const [from, to] = [row(0, 0).slot, row(2, 0).slot];
    const transfers = [{ kind: 'copy' as const, from, to }];
    const output = await run(prefill([row(0, 40, 5, 6)], { reusedSlot: to, transfers }));
    expect(idsOf(output)).toEqual([7]);
    expect(backend.calls).toEqual([
      'resize 4+1x128',
      '2 to staging',
      'copy 0 to 2',
      'forward staging 1x2 ids 5,6 positions 40,41 last 41',
      'staging to 0',
      'sample staging',
    ]);
  });

  it('puts the state of a snapshot in the place of the row that it copies, and takes one behind the chunk', async () => {
    const { backend, run } = createRunner();
    const { slot } = row(2, 0);
    const kvShape = { ...KV_SHAPE, numSnapshots: 2 };
    const snapshots = { restoredSnapshot: 1, takenSnapshot: 0 };
    await run(prefill([row(0, 40, 5, 6)], { kvShape, reusedSlot: slot, isLastChunk: false, ...snapshots }));
    expect(backend.calls).toEqual([
      'resize 4+1x128',
      '2 to staging',
      'snapshots 1 to staging 0',
      'forward staging 1x2 ids 5,6 positions 40,41 last 41',
      'staging 0 to snapshots 0',
      'finish',
    ]);
  });

  it('decodes rows of different lengths in one pass, after the transfers', async () => {
    const { backend, run } = createRunner();
    const [from, to] = [row(3, 0).slot, row(1, 0).slot];
    const transfers = [
      { kind: 'copy' as const, from: to, to: from },
      { kind: 'move' as const, from, to },
    ];
    const output = await run(decode([row(0, 9, 4), row(1, 20, 30), row(2, 3, 11)], transfers));
    expect(output).toEqual({
      samples: [5, 31, 12].map((tokenId) => ({ tokenId, logprobs: undefined })),
      runMs: 2,
      readbackMs: 3,
    });
    expect(backend.calls).toEqual([
      'resize 4+1x128',
      'copy 1 to 3',
      'move 3 to 1',
      'forward slots 3x1 ids 4,30,11 positions 9,20,3 last 9,20,3',
      'sample slots',
    ]);
  });

  it('fails only the row whose logits have no next token', async () => {
    const { backend, run } = createRunner();
    backend.poison = 30;
    const output = await run(decode([row(0, 1, 4), row(1, 1, 30), row(2, 1, 7)]));
    expect(idsOf(output)).toEqual([5, expect.any(Error), 8]);
  });
});
