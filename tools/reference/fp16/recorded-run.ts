import { createSampler } from '../../../src/batching/sampling/sampling.ts';
import type { RequestId } from '../../../src/batching/base/ids.ts';
import { checkpointWeights } from '../../../src/worker/models/checkpoint/convert-weights.ts';
import type { Checkpoint } from '../../../src/worker/models/checkpoint/checkpoint.ts';
import type { Precision } from '../../../src/worker/models/checkpoint/packed-weights.ts';
import { planModel } from '../../../src/worker/models/checkpoint/model-plan.ts';
import { limitsOf } from '../../../src/worker/runtime/devices/create-backend.ts';
import { CapturedSteps } from '../../../src/worker/runtime/webgpu/captured-steps.ts';
import type { Dtype } from '../../../src/protocol/models.ts';
import { requestGpuDevice } from '../../../src/worker/runtime/webgpu/gpu-device.ts';
import type { ModelBackend } from '../../../src/worker/runtime/model-backend.ts';
import { WebGpuRuntime } from '../../../src/worker/runtime/webgpu/webgpu-runtime.ts';
import { play, type Played } from '../play-requests.ts';
import { arrivalsFor, MAX_ROWS } from './workload.ts';

export interface RecordedText {
  readonly isGreedy: boolean;
  readonly promptTokenIds: readonly number[];
  readonly tokenIds: readonly number[];
  /** [vocab] for each of `tokenIds`: what it was sampled from. */
  readonly logits: readonly Float32Array[];
}

export interface RecordedRun {
  readonly precision: Precision;
  readonly texts: readonly RecordedText[];
  /** Tokens that the CPU samples otherwise from the same logits. */
  readonly numWrongSamples: number;
  /** Events that the run must include and doesn't. */
  readonly omissions: readonly string[];
}

/** Runs the requests of `arrivalsFor` through the engine on this machine's adapter. */
export async function recordRun(checkpoint: Checkpoint, dtype: Dtype): Promise<RecordedRun> {
  const rung = dtype === 'fp32' ? 'fp32' : 'fp16';
  const gpu = await requestGpuDevice(rung);
  const { model } = checkpoint;
  const { vocabSize } = model.config;
  const runtime = new WebGpuRuntime(gpu);
  const plan = planModel(
    checkpoint,
    dtype,
    limitsOf({ runtime, rung: `webgpu-${rung}`, fallbackReason: '' }),
  );
  const backend = await runtime.createGenerator({ model, ...checkpointWeights(checkpoint, plan) });
  const recorder = new Recorder(backend, vocabSize);
  const arrivals = arrivalsFor(model.config);
  const played = await play(
    { config: model.config, backend },
    { policy: { maxBatchSize: MAX_ROWS, prefillStallMs: Infinity }, isPipelined: true, arrivals },
  );
  await backend.release();
  gpu.device.destroy();
  const texts = arrivals.map(({ draft }, i) => {
    const { promptTokenIds, sampling } = draft;
    const tokenIds = played.finished[i]?.tokenIds ?? [];
    const logits = tokenIds.map((_, k) => recorder.logitsAt(played.ids[i], promptTokenIds.length + k));
    return { isGreedy: sampling.temperature === 0, promptTokenIds, tokenIds, logits };
  });
  return {
    precision: plan.layout.precision,
    texts,
    numWrongSamples: recorder.numWrongSamples,
    omissions: recorder.omissionsIn(played),
  };
}

/** Watches a backend: keeps the logits of each sampled token, and counts what was used. */
class Recorder {
  readonly #logits = new Map<string, Float32Array>();
  readonly #counts = { moves: 0, replays: 0 };
  numWrongSamples = 0;

  constructor(backend: ModelBackend, vocabSize: number) {
    const sampleOnCpu = createSampler(vocabSize);
    const sample = backend.sample.bind(backend);
    backend.sample = async (target, given) => {
      const rows = given instanceof Promise ? await given : given;
      const sampling = sample(target, rows);
      // The next pass, which overwrites the logits, is submitted after this.
      const logits = await backend.readLogits(rows.length);
      const output = await sampling;
      for (const [row, { requestId, startPosition, tokenIds, sampling: params }] of rows.entries()) {
        const position = startPosition + Math.max(1, tokenIds.length);
        const ofRow = logits.slice(row * vocabSize, (row + 1) * vocabSize);
        this.#logits.set(keyOf(requestId, position), ofRow);
        const sampled = output.samples[row];
        const expected = sampleOnCpu(ofRow, { params, position, tokenCounts: new Map() });
        if (!sampled || sampled instanceof Error || sampled.tokenId !== expected.tokenId)
          this.numWrongSamples += 1;
      }
      return output;
    };
    const moveSlot = backend.moveSlot.bind(backend);
    backend.moveSlot = (from, to) => {
      this.#counts.moves += 1;
      moveSlot(from, to);
    };
    const counts = this.#counts;
    // oxlint-disable-next-line typescript/unbound-method -- called on its object below
    const find = CapturedSteps.prototype.find;
    CapturedSteps.prototype.find = function findCounted(this: CapturedSteps, shape) {
      const found = find.call(this, shape);
      if (found) counts.replays += 1;
      return found;
    };
  }

  logitsAt(id: RequestId | undefined, position: number): Float32Array {
    return this.#logits.get(keyOf(id, position)) ?? new Float32Array();
  }

  omissionsIn({ steps, batchSizes, numSharedPrefills, numReusedTokens }: Played): readonly string[] {
    const sizes = [...new Set(batchSizes)].toSorted((a, b) => a - b);
    return [
      sizes.length < MAX_ROWS ? `rows: only ${sizes.join(', ')}` : '',
      steps.some(({ isBehind }) => isBehind) ? '' : 'no pipelined step',
      numSharedPrefills > 0 ? '' : 'no shared prefill',
      numReusedTokens > 0 ? '' : 'no reused prefix',
      this.#counts.moves > 0 ? '' : 'no move',
      this.#counts.replays > 0 ? '' : 'no captured step',
    ].filter(Boolean);
  }
}

function keyOf(id: RequestId | undefined, position: number): string {
  return `${id} ${position}`;
}
