import { kvSlot } from '../../src/batching/generation/kv-slots.ts';
import type { StepRow } from '../../src/batching/generation/model-runner.ts';
import { createSampler, type SampledToken } from '../../src/batching/sampling/sampling.ts';
import { emptyMask, forbidToken } from '../../src/batching/sampling/token-mask.ts';
import { createRequestId } from '../../src/protocol/ids.ts';
import { GpuSampler } from '../../src/worker/runtime/gpu-sampler/gpu-sampler.ts';
import { TENSOR_USAGE } from '../../src/worker/runtime/gpu-sampler/gpu-flags.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { requestRuntime } from './models.ts';
import { randomRow, type RandomRow } from './random-rows.ts';

type Sample = SampledToken | Error;

/** Rows of the logits and slots of each sampler. */
const MAX_ROWS = 16;

/** A GPU sampler with buffers of its own, fed with logits that no model made. */
async function createGpuSampler(vocabSize: number) {
  const { device } = (await requestRuntime()).gpu;
  const sampler = await GpuSampler.create(device, vocabSize);
  const create = (numWords: number): GPUBuffer =>
    device.createBuffer({ size: 4 * numWords, usage: TENSOR_USAGE });
  const allLogits = create(MAX_ROWS * vocabSize);
  const inputs = { ids: create(MAX_ROWS), positions: create(MAX_ROWS), lastIndices: create(MAX_ROWS) };
  return {
    moveSlot: sampler.moveSlot.bind(sampler),
    sample: (rows: readonly StepRow[]): Promise<readonly Sample[]> => sampler.sample(rows, allLogits, inputs),
    /** @returns The rows of a step. The GPU counts tokens and positions by itself as long as they are the same objects. */
    upload(rows: readonly RandomRow[]): readonly StepRow[] {
      for (const [index, { logits }] of rows.entries())
        device.queue.writeBuffer(allLogits, 4 * index * vocabSize, new Float32Array(logits));
      const lastIndices = Int32Array.from(rows, ({ position }) => position - 1);
      device.queue.writeBuffer(inputs.lastIndices, 0, lastIndices);
      device.queue.writeBuffer(inputs.positions, 0, lastIndices);
      return rows.map(({ params, position, tokenCounts, mask }, index) => ({
        requestId: createRequestId(),
        slot: kvSlot(index),
        tokenIds: [0],
        startPosition: position - 1,
        sampling: params,
        tokenCounts,
        ...(mask && { mask }),
      }));
    },
  };
}

/**
 * Samples random rows on both, in batches of 1 to 16, each for some steps. The GPU counts tokens and positions by itself from
 * the first step on. Halfway the first row leaves, so that the last one moves into its slot.
 *
 * @returns The rows in which GPU and CPU differ, in words, how many have no next token, and the largest difference of a logprob.
 */
export async function compareSamplers(seed: number, vocabSize: number, numRows: number, numSteps = 1) {
  const random = seededRandom(seed);
  const onGpu = await createGpuSampler(vocabSize);
  const onCpu = createSampler(vocabSize);
  const differences: string[] = [];
  let [numFaults, logprobError] = [0, 0];
  for (let done = 0; done < numRows;) {
    const batchSize = Math.min(1 + Math.floor(16 * random()), numRows - done);
    let rows = Array.from({ length: batchSize }, () => {
      const row = randomRow(vocabSize, random);
      const { position, tokenCounts, ...rest } = numSteps > 1 ? forManySteps(row) : row;
      return { ...rest, position, countsAtStart: tokenCounts, tokenCounts: new Map(tokenCounts) };
    });
    const upload = () => onGpu.upload(rows.map((row) => ({ ...row, tokenCounts: row.countsAtStart })));
    let stepRows = upload();
    for (let step = 0; step < numSteps; step += 1) {
      if (step > 0 && step === Math.floor(numSteps / 2) && batchSize > 1) {
        onGpu.moveSlot(batchSize - 1, 0);
        rows = [...rows.slice(-1), ...rows.slice(1, -1)];
        stepRows = upload();
      }
      const samples = await onGpu.sample(stepRows);
      for (const [index, row] of rows.entries()) {
        const expected = attempt(() => onCpu(row.logits, row));
        const actual = samples[index] ?? new Error('no sample');
        const error = logprobDifference(expected, actual);
        const texts = [`CPU ${describe(expected)}`, `GPU ${describe(actual)}`, JSON.stringify(row.params)];
        if (describe(expected) !== describe(actual) || !(error < 1e-9))
          differences.push(`row ${done + index}, step ${step}: ${texts.join(', ')}`);
        logprobError = Math.max(logprobError, error);
        row.position += 1;
        if (expected instanceof Error) numFaults += 1;
        else row.tokenCounts.set(expected.tokenId, (row.tokenCounts.get(expected.tokenId) ?? 0) + 1);
      }
    }
    done += batchSize;
  }
  return { differences, numFaults, logprobError };
}

/** Penalties prevent repetition, the logits are valid, and the likeliest tokens are masked. */
function forManySteps({ logits, params, tokenCounts }: RandomRow): RandomRow {
  const likeliest = Array.from(logits.keys()).toSorted((a, b) => (logits[b] ?? 0) - (logits[a] ?? 0));
  const mask = emptyMask(logits.length).fill(0xffff_ffff);
  for (const id of likeliest.slice(0, 5)) forbidToken(mask, id);
  return {
    logits: logits.map((logit) => (Number.isFinite(logit) ? logit : 0)),
    params: { ...params, frequencyPenalty: 1.5, presencePenalty: 0.5, repetitionPenalty: 1.2 },
    position: 10,
    mask,
    tokenCounts,
  };
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
  const [ofA, ofB] = [a, b].map((sample) => {
    const logprobs = sample instanceof Error ? undefined : sample.logprobs;
    return logprobs ? [logprobs.logprob, ...logprobs.top.map(({ logprob }) => logprob)] : [];
  });
  const differences = ofA?.map((logprob, i) =>
    logprob === ofB?.[i] ? 0 : Math.abs(logprob - (ofB?.[i] ?? 0)),
  );
  return Math.max(0, ...(differences ?? []));
}
