import type { TokenCounts } from '../../src/batching/sampling/adjust-logits.ts';
import { kvSlot } from '../../src/batching/generation/kv-slots.ts';
import type { SamplingParams } from '../../src/batching/sampling/sampling-options.ts';
import { createSampler, type SampledToken } from '../../src/batching/sampling/sampling.ts';
import { emptyMask, forbidToken } from '../../src/batching/sampling/token-mask.ts';
import { createRequestId } from '../../src/protocol/ids.ts';
import type { SampledRow } from '../../src/worker/runtime/model-backend.ts';
import { requestGpuDevice } from '../../src/worker/runtime/webgpu/gpu-device.ts';
import { TENSOR_USAGE } from '../../src/worker/runtime/webgpu/gpu-flags.ts';
import { GpuSampler, type SlotInputs } from '../../src/worker/runtime/gpu-sampler/gpu-sampler.ts';
import { createRandom, randomRow, type RandomRow } from './random-rows.ts';

type Sample = SampledToken | Error;

/** Rows of the logits and slots of each probe. */
const MAX_ROWS = 200;

const probes = new Map<number, Promise<SamplerProbe>>();

/** One sampler for each size of vocabulary, for the whole page, because a software adapter compiles its shaders for seconds. */
function probeOf(vocabSize: number): Promise<SamplerProbe> {
  const probe = probes.get(vocabSize) ?? SamplerProbe.create(vocabSize);
  probes.set(vocabSize, probe);
  return probe;
}

/** A GPU sampler with buffers of its own, fed with logits that no model made. */
class SamplerProbe {
  readonly #vocabSize: number;
  readonly #device: GPUDevice;
  readonly sampler: GpuSampler;
  readonly #logits: GPUBuffer;
  readonly inputs: SlotInputs;

  static async create(vocabSize: number): Promise<SamplerProbe> {
    const { device } = await requestGpuDevice('fp32');
    const sampler = await GpuSampler.create(device, vocabSize);
    return new SamplerProbe(device, sampler, vocabSize);
  }

  private constructor(device: GPUDevice, sampler: GpuSampler, vocabSize: number) {
    this.#device = device;
    this.#vocabSize = vocabSize;
    this.sampler = sampler;
    const create = (numWords: number): GPUBuffer =>
      device.createBuffer({ size: 4 * numWords, usage: TENSOR_USAGE });
    this.#logits = create(MAX_ROWS * vocabSize);
    this.inputs = { ids: create(MAX_ROWS), positions: create(MAX_ROWS), lastIndices: create(MAX_ROWS) };
  }

  upload(rows: readonly RandomRow[]): void {
    const { queue } = this.#device;
    for (const [index, { logits }] of rows.entries()) {
      queue.writeBuffer(this.#logits, 4 * index * this.#vocabSize, new Float32Array(logits));
    }
    const lastIndices = Int32Array.from(rows, ({ position }) => position - 1);
    queue.writeBuffer(this.inputs.lastIndices, 0, lastIndices);
    queue.writeBuffer(this.inputs.positions, 0, lastIndices);
  }

  sample(rows: readonly SampledRow[]): Promise<readonly Sample[]> {
    return this.sampler.sample(rows, this.#logits, this.inputs);
  }

  stepRows(rows: readonly RandomRow[]): SampledRow[] {
    return rows.map(({ params, position, tokenCounts, mask }, index) => ({
      requestId: createRequestId(),
      slot: kvSlot(index),
      tokenIds: [0],
      startPosition: position - 1,
      sampling: params,
      tokenCounts,
      ...(mask && { mask }),
    }));
  }
}

/** Rows in which GPU and CPU differ, in words, and what was compared. */
export interface Agreement {
  readonly numRows: number;
  /** Rows that have no next token, on the CPU. */
  readonly numFaults: number;
  readonly differences: readonly string[];
  /** Largest difference of any logprob. */
  readonly logprobError: number;
}

/** Samples random rows on both, in batches of 1 to 16. */
export async function compareSamplers(seed: number, vocabSize: number, numRows: number): Promise<Agreement> {
  const random = createRandom(seed);
  const probe = await probeOf(vocabSize);
  const onCpu = createSampler(vocabSize);
  const differences: string[] = [];
  let [numFaults, logprobError] = [0, 0];
  for (let done = 0; done < numRows;) {
    const batchSize = Math.min(1 + Math.floor(16 * random()), numRows - done);
    const rows = Array.from({ length: batchSize }, () => randomRow(vocabSize, random));
    probe.upload(rows);
    const samples = await probe.sample(probe.stepRows(rows));
    for (const [index, row] of rows.entries()) {
      const expected = attempt(() => onCpu(row.logits, row));
      const actual = samples[index] ?? new Error('no sample');
      const error = logprobDifference(expected, actual);
      if (describe(expected) !== describe(actual) || !(error < 1e-9)) {
        differences.push(
          `row ${done + index}: CPU ${describe(expected)}, GPU ${describe(actual)}, ${JSON.stringify(row.params)}`,
        );
      }
      if (expected instanceof Error) numFaults += 1;
      logprobError = Math.max(logprobError, error);
    }
    done += batchSize;
  }
  return { numRows, numFaults, differences, logprobError };
}

function attempt(sample: () => SampledToken): Sample {
  try {
    return sample();
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** All of a sample but the numbers of its logprobs. */
function describe(sample: Sample): string {
  if (sample instanceof Error) return sample.message;
  const { tokenId, logprobs } = sample;
  const top = logprobs && `${logprobs.tokenId} of ${logprobs.top.map((entry) => entry.tokenId).join(' ')}`;
  return `${tokenId}${top ? `, logprobs ${top}` : ''}`;
}

function logprobDifference(a: Sample, b: Sample): number {
  const [ofA, ofB] = [logprobsIn(a), logprobsIn(b)];
  return Math.max(
    0,
    ...ofA.map((logprob, index) => (logprob === ofB[index] ? 0 : Math.abs(logprob - (ofB[index] ?? 0)))),
  );
}

function logprobsIn(sample: Sample): readonly number[] {
  if (sample instanceof Error || !sample.logprobs) return [];
  return [sample.logprobs.logprob, ...sample.logprobs.top.map(({ logprob }) => logprob)];
}

/**
 * Samples the same rows step after step. The GPU counts tokens and positions by itself from the first step on, and the
 * first row leaves halfway, so that the last one moves into its slot.
 *
 * @returns Steps in which GPU and CPU differ, in words.
 */
export async function compareContinuations(
  seed: number,
  vocabSize: number,
  numSteps: number,
): Promise<readonly string[]> {
  const random = createRandom(seed);
  const probe = await probeOf(vocabSize);
  const onCpu = createSampler(vocabSize);
  let rows = Array.from({ length: 4 }, () => createContinuation(randomRow(vocabSize, random)));
  let stepRows = probe.stepRows(rows.map(atStart));
  probe.upload(rows);
  const differences: string[] = [];
  for (let step = 0; step < numSteps; step += 1) {
    if (step === Math.floor(numSteps / 2)) {
      probe.sampler.moveSlot(3, 0);
      rows = [3, 1, 2].flatMap((index) => rows[index] ?? []);
      stepRows = probe.stepRows(rows.map(atStart));
      probe.upload(rows);
    }
    const samples = await probe.sample(stepRows);
    for (const [index, row] of rows.entries()) {
      const expected = describe(onCpu(row.logits, row));
      const actual = describe(samples[index] ?? new Error('no sample'));
      if (expected !== actual) differences.push(`step ${step}, row ${index}: CPU ${expected}, GPU ${actual}`);
      const tokenId = Number.parseInt(expected, 10);
      row.tokenCounts.set(tokenId, (row.tokenCounts.get(tokenId) ?? 0) + 1);
      row.position += 1;
    }
  }
  return differences;
}

interface Continuation extends RandomRow {
  position: number;
  readonly tokenCounts: Map<number, number>;
  /** The only counts that are sent to the GPU. It counts later tokens itself. */
  readonly countsAtStart: TokenCounts;
}

function atStart(row: Continuation): RandomRow {
  return { ...row, tokenCounts: row.countsAtStart };
}

/** A row for many steps: penalties prevent repetition, its logits are valid, and its likeliest tokens are masked. */
function createContinuation({ logits, params, tokenCounts }: RandomRow): Continuation {
  const likeliest = Array.from(logits.keys()).toSorted((a, b) => (logits[b] ?? 0) - (logits[a] ?? 0));
  const mask = emptyMask(logits.length).fill(0xffff_ffff);
  for (const id of likeliest.slice(0, 5)) forbidToken(mask, id);
  return {
    logits: logits.map((logit) => (Number.isFinite(logit) ? logit : 0)),
    params: { ...params, frequencyPenalty: 1.5, presencePenalty: 0.5, repetitionPenalty: 1.2 },
    position: 10,
    mask,
    tokenCounts: new Map(tokenCounts),
    countsAtStart: tokenCounts,
  };
}

/** How often each token is drawn from one row of logits at positions 1, 2, 3, … */
export async function countDraws(
  logits: readonly number[],
  params: SamplingParams,
  numDraws: number,
): Promise<number[]> {
  const probe = await probeOf(logits.length);
  const counts = logits.map(() => 0);
  for (let position = 1; position <= numDraws; position += MAX_ROWS) {
    const rows = Array.from({ length: Math.min(MAX_ROWS, numDraws + 1 - position) }, (_, index) => ({
      logits: Float32Array.from(logits),
      params,
      position: position + index,
      tokenCounts: new Map(),
    }));
    probe.upload(rows);
    for (const sample of await probe.sample(probe.stepRows(rows))) {
      if (sample instanceof Error) throw sample;
      counts[sample.tokenId] = (counts[sample.tokenId] ?? 0) + 1;
    }
  }
  return counts;
}
