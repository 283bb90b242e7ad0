import type { BatchingPolicy } from '../../src/batching/generation/policy.ts';
import type { RequestEvent } from '../../src/batching/generation/events.ts';
import { GREEDY } from '../../src/batching/generation/request.ts';
import { packInMemory } from '../../src/worker/models/checkpoint/convert-weights.ts';
import { planModel } from '../../src/worker/models/checkpoint/model-plan.ts';
import { openCheckpoint } from '../../src/worker/models/checkpoint/open-checkpoint.ts';
import { createTokenizer } from '../../src/worker/models/tokenizer/tokenizer.ts';
import type { DtypeChoice } from '../../src/protocol/models.ts';
import { chooseDevice, createBackend, limitsOf } from '../../src/worker/runtime/create-backend.ts';
import type { DeviceChoice } from '../../src/worker/runtime/device-choice.ts';
import { DECODERS } from '../../tools/hub-server/checkpoints/decoders.ts';
import { generatedFiles } from './generated-files.ts';
import { logitsOf } from './logits-of.ts';
import { play, type ProbeModel } from '../../tools/reference/play-requests.ts';

/** One of the generated decoders, and how it runs. */
export interface DecoderChoice {
  readonly id: string;
  readonly backend: 'webgpu' | 'wasm';
  readonly dtype: DtypeChoice;
}

export interface GreedyBatch {
  /** Token ids of each prompt. */
  readonly prompts: readonly (readonly number[])[];
  readonly maxNewTokens: number;
  readonly policy: Partial<BatchingPolicy>;
  readonly isPipelined: boolean;
  /** Each prompt arrives this many steps after the one before it. */
  readonly stepsBetween: number;
  /** Whether logprobs of the prompt's and of the output's tokens are asked for. */
  readonly hasLogprobs: boolean;
}

export interface GreedyBatchReport {
  /** End tokens do not end them. */
  readonly tokenIds: readonly (readonly number[])[];
  /** Natural logarithms of the probabilities of all output tokens; empty where not asked for. */
  readonly logprobs: readonly (readonly number[])[];
  /** One for each prompt token but the first. Empty if not requested. */
  readonly promptLogprobs: readonly (readonly number[])[];
  readonly largestBatch: number;
  /** Forward passes that the last prompt took. */
  readonly numPrefills: number;
  readonly numReusedTokens: number;
}

interface OpenModel extends ProbeModel {
  readonly key: string;
  readonly device: DeviceChoice;
}

let current: OpenModel | undefined;

/** The model that ran last is kept: on a software adapter its shaders take seconds. Calls must not overlap. */
export async function openDecoder(choice: DecoderChoice): Promise<ProbeModel> {
  const key = JSON.stringify(choice);
  if (current?.key === key) return current;
  await current?.backend.release();
  if (current && 'gpu' in current.device) current.device.gpu.device.destroy();
  current = undefined;
  const files = DECODERS.get(choice.id)?.();
  if (!files) throw new Error(`There is no decoder ${choice.id}.`);
  const checkpoint = await openCheckpoint(generatedFiles(files));
  const device = await chooseDevice(choice.backend);
  const plan = planModel(checkpoint, choice.dtype, limitsOf(device));
  const { model, tokenizer, tokenizerConfig } = checkpoint;
  const { backend } = await createBackend({ model, ...(await packInMemory(checkpoint, plan)) }, device);
  current = {
    key,
    device,
    config: model.config,
    tokenizer: await createTokenizer(tokenizer, tokenizerConfig),
    backend,
  };
  return current;
}

/** @returns Logits [vocab] after the last token of each prompt. */
export async function decoderLogits(
  choice: DecoderChoice,
  prompts: readonly (readonly number[])[],
): Promise<number[][]> {
  const { backend, config } = await openDecoder(choice);
  return logitsOf(backend, config.contextLength, prompts);
}

export async function runGreedyBatch(choice: DecoderChoice, batch: GreedyBatch): Promise<GreedyBatchReport> {
  const model = await openDecoder(choice);
  const { ids, steps, finished } = await play(model, {
    policy: batch.policy,
    isPipelined: batch.isPipelined && model.backend.isPipelined,
    arrivals: batch.prompts.map((promptTokenIds, i) => ({
      draft: {
        promptTokenIds,
        maxNewTokens: batch.maxNewTokens,
        ignoreEos: true,
        promptLogprobs: batch.hasLogprobs ? 0 : undefined,
        sampling: { ...GREEDY, logprobs: batch.hasLogprobs ? 0 : undefined },
      },
      afterSteps: i * batch.stepsBetween,
    })),
  });
  const events = steps.flatMap((step) => step.requests);
  const eventsOf = ids.map((id) => events.filter(({ requestId }) => requestId === id));
  return {
    tokenIds: finished.map(({ tokenIds }) => tokenIds),
    logprobs: eventsOf.map(outputLogprobs),
    promptLogprobs: eventsOf.map(promptLogprobs),
    largestBatch: Math.max(...steps.map(({ kind, batchSize }) => (kind === 'decode' ? batchSize : 0))),
    numPrefills: steps.filter(
      ({ kind, rows }) => kind === 'prefill' && rows.some(({ requestId }) => requestId === ids.at(-1)),
    ).length,
    numReusedTokens: events.reduce(
      (sum, event) => sum + (event.type === 'started' ? event.numReusedTokens : 0),
      0,
    ),
  };
}

function outputLogprobs(events: readonly RequestEvent[]): number[] {
  return events.flatMap((event) => (event.type === 'token' ? (event.logprobs?.logprob ?? []) : []));
}

function promptLogprobs(events: readonly RequestEvent[]): number[] {
  const scored = events.find((event) => event.type === 'prompt-scored');
  return scored?.logprobs.flatMap(({ logprob }) => logprob ?? []) ?? [];
}
