import { systemClock } from '../../batching/base/clock.ts';
import { Engine } from '../../batching/generation/engine.ts';
import type { EngineListener, RequestEvent, StepEvent } from '../../batching/generation/events.ts';
import { DEFAULT_POLICY, type BatchingPolicy } from '../../batching/generation/policy.ts';
import { GREEDY, type GenerationRequest, type TokenConstraint } from '../../batching/generation/request.ts';
import { createRequest, type RequestOverrides } from '../../batching/generation/test-support.ts';
import { createSampler } from '../../batching/sampling/sampling.ts';
import { packInMemory } from '../models/checkpoint/convert-weights.ts';
import { layOut } from '../models/checkpoint/packed-weights.ts';
import { seededTensors } from '../runtime/gpu-check/seeded-tensors.ts';
import type { ModelBackend } from '../runtime/model-backend.ts';
import { BackendRunner } from '../runtime/runner.ts';
import { hybridFamily } from './hybrid-family.ts';
import { ReferenceBackend } from './reference-backend.ts';
import { ReferenceExecutor, ReferenceRow, weightsOf } from './reference-executor.ts';

export const VOCAB_SIZE = 48;
export const CONTEXT_LENGTH = 128;

const MODEL = hybridFamily.readModel(
  {
    vocab_size: VOCAB_SIZE,
    max_position_embeddings: CONTEXT_LENGTH,
    hidden_size: 24,
    num_hidden_layers: 2,
    num_attention_heads: 4,
    num_key_value_heads: 2,
    layer_types: ['conv', 'full_attention'],
    conv_L_cache: 3,
  },
  undefined,
);

const PACKED = {
  model: MODEL,
  ...(await packInMemory(
    { tensors: seededTensors(MODEL, 1) },
    { layout: layOut(MODEL.program.weights, 'fp32', 'float32') },
  )),
};

export interface Token {
  readonly tokenId: number;
  /** Undefined where the request asked for none. */
  readonly logprob: number | undefined;
}

/** Test support: the real scheduler and runner on a model of `hybridFamily`, and the texts that come. */
export class HybridEngine implements EngineListener {
  readonly engine: Engine;
  /** Of each step that has ended. */
  readonly steps: StepEvent[] = [];
  readonly #tokens = new Map<string, readonly Token[]>();
  readonly #numReused = new Map<string, number>();
  readonly #ended = new Set<string>();
  #waiters: (() => void)[] = [];

  /** @param backend Of a model with as many tokens, and as long a context. */
  constructor(policy: Partial<BatchingPolicy> = {}, backend: ModelBackend = new ReferenceBackend(PACKED)) {
    this.engine = new Engine({
      runner: new BackendRunner(backend),
      clock: systemClock,
      contextLength: CONTEXT_LENGTH,
      eosTokenIds: [],
      listener: this,
      // How a prompt is cut would hang on the machine otherwise.
      policy: { ...DEFAULT_POLICY, prefillStallMs: Infinity, ...policy },
    });
  }

  /** Resolves with the texts once all have ended. */
  async run(...requests: readonly GenerationRequest[]): Promise<readonly (readonly Token[])[]> {
    this.engine.submitAll(requests);
    return this.end(...requests);
  }

  async end(...requests: readonly GenerationRequest[]): Promise<readonly (readonly Token[])[]> {
    await this.until(() => requests.every(({ id }) => this.#ended.has(id)));
    return requests.map((request) => this.of(request));
  }

  of({ id }: GenerationRequest): readonly Token[] {
    return this.#tokens.get(id) ?? [];
  }

  /** Tokens of its prompt that were not computed. */
  numReusedBy({ id }: GenerationRequest): number | undefined {
    return this.#numReused.get(id);
  }

  /** Resolves behind the step that makes it true. */
  async until(holds: () => boolean): Promise<void> {
    while (!holds()) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#waiters.push(resolve);
      await promise;
    }
  }

  onStep(event: StepEvent): void {
    this.steps.push(event);
    this.onEnded(event.requests);
  }

  onEnded(events: readonly RequestEvent[]): void {
    for (const event of events) {
      const { requestId: id, type } = event;
      if (type === 'started') this.#numReused.set(id, event.numReusedTokens);
      if (type === 'finished' || type === 'failed') this.#ended.add(id);
      if (type !== 'token') continue;
      const token = { tokenId: event.tokenId, logprob: event.logprobs?.logprob };
      this.#tokens.set(id, [...(this.#tokens.get(id) ?? []), token]);
    }
    for (const resolve of this.#waiters.splice(0)) resolve();
  }
}

/** Test support: a prompt that has little in common with those of other seeds. */
export function promptOf(seed: number, length: number): readonly number[] {
  return Array.from({ length }, (_, i) => (7 * i * i + 11 * i * seed + 5 * seed) % VOCAB_SIZE);
}

export function hybridRequest(
  name: string,
  promptTokenIds: readonly number[],
  overrides: RequestOverrides = {},
): GenerationRequest {
  const sampling = { ...GREEDY, temperature: 1, seed: name.charCodeAt(0), logprobs: 0 };
  return createRequest(name, { promptTokenIds, maxNewTokens: 10, sampling, ...overrides });
}

/** Test support: the text of a request, by a computation that keeps nothing from one token to the next. */
export async function plainText(
  { promptTokenIds, maxNewTokens, stopTokenIds = [], sampling: params }: GenerationRequest,
  constraint?: TokenConstraint,
): Promise<readonly Token[]> {
  const executor = new ReferenceExecutor(MODEL.program, weightsOf(PACKED));
  const sample = createSampler(VOCAB_SIZE);
  const sequence = [...promptTokenIds];
  const text: Token[] = [];
  while (text.length < maxNewTokens) {
    const logits = Float32Array.from(executor.run(new ReferenceRow(), sequence).at(-1) ?? []);
    const context = { params, position: sequence.length, tokenCounts: new Map(), mask: constraint?.mask?.() };
    const { tokenId, logprobs } = sample(logits, context);
    if (stopTokenIds.includes(tokenId)) break;
    text.push({ tokenId, logprob: logprobs?.logprob });
    sequence.push(tokenId);
    if (await constraint?.accept(tokenId)) break;
  }
  return text;
}
