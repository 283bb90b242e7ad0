import { kvSlot } from '../../batching/generation/kv-slots.ts';
import type { StepRow } from '../../batching/generation/model-runner.ts';
import { GREEDY } from '../../batching/generation/request.ts';
import { createRequestId } from '../../protocol/ids.ts';
import type { ModelConfig } from '../models/program/model-config.ts';
import type { ModelBackend, PassShape } from './model-backend.ts';
import { orHang } from './faults/step-watchdog.ts';

/** A prompt and a step, which show that the model runs. */
const FIRST_SHAPES: readonly PassShape[] = [
  { target: 'staging', numRows: 1, tokensPerRow: 8 },
  { target: 'slots', numRows: 1, tokensPerRow: 1 },
];

/** Limit for one shape. Its shaders take a minute on a software adapter of a loaded machine, a large model another one. */
const PATIENCE_MS = 300_000;

/**
 * Runs and samples each shape once, so that no request waits for a first run. Then frees their K/V memory.
 *
 * @param isAwaited Whether a text that has begun waits: it needs only the shapes of its next steps, so it does not wait for
 *   all of them.
 * @throws StepHangError where one hangs.
 */
export async function warmUp(
  backend: ModelBackend,
  config: ModelConfig,
  report: (done: number, total: number) => void,
  isAwaited: () => boolean = () => false,
): Promise<void> {
  const all = [...FIRST_SHAPES, ...backend.warmUpShapes];
  const shapes = all.filter(({ tokensPerRow }) => tokensPerRow < config.contextLength);
  for (const [done, shape] of shapes.entries()) {
    if (isAwaited()) break;
    report(done, shapes.length);
    await orHang(runOnce(backend, shape), PATIENCE_MS);
  }
  const capacity = backend.kvCacheLimits.capacityFor(1);
  backend.resize({ numSlots: 1, numStagingRows: 1, capacity, numSnapshots: 0 });
  report(shapes.length, shapes.length);
}

async function runOnce(backend: ModelBackend, { target, numRows, tokensPerRow }: PassShape): Promise<void> {
  const capacity = backend.kvCacheLimits.capacityFor(tokensPerRow);
  backend.resize({ numSlots: numRows, numStagingRows: numRows, capacity, numSnapshots: 0 });
  const numTokens = numRows * tokensPerRow;
  await backend.forward({
    target,
    numRows,
    tokensPerRow,
    ids: new Int32Array(numTokens),
    positions: Int32Array.from({ length: numTokens }, (_, i) => i % tokensPerRow),
    lastIndices: new Int32Array(numRows).fill(tokensPerRow - 1),
  });
  await backend.sample(target, warmUpRows(numRows));
}

function warmUpRows(numRows: number): StepRow[] {
  return Array.from({ length: numRows }, (_, index) => ({
    requestId: createRequestId(),
    slot: kvSlot(index),
    tokenIds: [0],
    startPosition: 0,
    sampling: { ...GREEDY, temperature: 1 },
    tokenCounts: new Map(),
  }));
}
