import type {
  FailedEvent,
  FinishedEvent,
  PromptScoredEvent,
  RequestTimings,
  StartedEvent,
  StepEvent,
  TokenEvent,
  TokenScoredEvent,
} from '../generation/events.ts';
import type { KvUsage } from '../generation/kv-planner.ts';
import type { MetricsRegistry } from './registry.ts';

export interface EngineGauges {
  readonly numRunning: number;
  readonly numWaiting: number;
  readonly kvCache: KvUsage;
}

export const NO_GAUGES: EngineGauges = {
  numRunning: 0,
  numWaiting: 0,
  kvCache: { usedBytes: 0, reservedBytes: 0 },
};

/** The measured part of a request's events. A server reports no more than this. */
export type MeasuredEvent =
  | Omit<StartedEvent, 'requestId'>
  | Pick<PromptScoredEvent, 'type'>
  | Pick<TokenScoredEvent, 'type'>
  | Pick<TokenEvent, 'type' | 'ttftMs' | 'itlMs'>
  | Pick<FinishedEvent, 'type' | 'finishReason' | 'timings'>
  | Pick<FailedEvent, 'type' | 'finishReason'>;

/** Counts the text generator's requests; each continuation of a prompt is one. */
export interface GenerationMetrics {
  onSubmitted(numPromptTokens: number): void;
  /** For each refused request. */
  onRejected(code: string): void;
  onStep(event: StepEvent, gauges: EngineGauges): void;
  /** For events outside of a step. */
  onEvents(events: readonly MeasuredEvent[], gauges: EngineGauges): void;
}

// Bucket bounds are vLLM's, so that its dashboards fit.
const TTFT_SECONDS = [
  0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640,
  2560,
];
const TOKEN_SECONDS = [
  0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80,
];
const REQUEST_SECONDS = [
  0.3, 0.5, 0.8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680,
];
const STEP_TOKENS = [1, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16_384];

/** Registers what it feeds, or feeds what the registry has under these names. */
export function createGenerationMetrics(registry: MetricsRegistry, deployment: string): GenerationMetrics {
  const metrics = registerMetrics(registry);
  const onEvents = (
    events: readonly MeasuredEvent[],
    { numRunning, numWaiting, kvCache }: EngineGauges,
  ): void => {
    for (const event of events) record(event, metrics);
    metrics.running(numRunning);
    metrics.waiting(numWaiting);
    metrics.kvUsage(kvCache.reservedBytes && kvCache.usedBytes / kvCache.reservedBytes);
  };
  return {
    onSubmitted: metrics.promptTokens,
    onRejected: (code) => metrics.rejected.inc({ deployment, code }),
    onStep: ({ numTokens, numGuessedTokens, numRightGuesses, requests }, gauges) => {
      metrics.stepTokens(numTokens);
      metrics.guessedTokens(numGuessedTokens);
      metrics.rightGuesses(numRightGuesses);
      onEvents(requests, gauges);
    },
    onEvents,
  };
}

type Metrics = ReturnType<typeof registerMetrics>;

function record(event: MeasuredEvent, metrics: Metrics): void {
  if (event.type === 'started') {
    metrics.prefixQueries(event.numPrefillTokens);
    metrics.prefixHits(event.numReusedTokens);
  } else if (event.type === 'token') {
    metrics.generationTokens(1);
    if (event.ttftMs !== undefined) metrics.ttft(event.ttftMs);
    if (event.itlMs !== undefined) metrics.itl(event.itlMs);
  } else if (event.type !== 'prompt-scored' && event.type !== 'token-scored') {
    metrics.ended.inc({ finished_reason: event.finishReason });
    if (event.type === 'finished') recordTimings(event.timings, metrics);
  }
}

function recordTimings({ queueWaitMs, ttftMs, e2eMs, tpotMs }: RequestTimings, metrics: Metrics): void {
  metrics.e2e(e2eMs);
  metrics.queueTime(queueWaitMs);
  metrics.prefill(ttftMs - queueWaitMs);
  metrics.decode(e2eMs - ttftMs);
  metrics.tpot(tpotMs);
}

/** Metrics under vLLM's names where vLLM has them. Its label `model_name` is left out, since only one model serves. */
function registerMetrics(registry: MetricsRegistry) {
  const { counter, gauge, histogram, seconds } = unlabelled(registry);
  return {
    promptTokens: counter('prompt_tokens_total', 'Prompt tokens accepted.'),
    generationTokens: counter('generation_tokens_total', 'Output tokens.'),
    prefixQueries: counter(
      'prefix_cache_queries_total',
      'Tokens looked up in the K/V rows of other sequences.',
    ),
    prefixHits: counter('prefix_cache_hits_total', 'Looked-up tokens whose K/V was reused.'),
    guessedTokens: counter('spec_decode_num_draft_tokens_total', 'Tokens guessed by prompt lookup.'),
    rightGuesses: counter('spec_decode_num_accepted_tokens_total', 'Guessed tokens that were right.'),
    stepTokens: histogram('iteration_tokens_total', 'Tokens of a step.', STEP_TOKENS),
    running: gauge('num_requests_running', 'Requests in the batch.'),
    waiting: gauge('num_requests_waiting', 'Requests in the queue.'),
    kvUsage: gauge(
      'kv_cache_usage_perc',
      'K/V memory that running sequences fill, of what is reserved; 1 = all.',
    ),
    ttft: seconds('time_to_first_token', 'Received to first token.', TTFT_SECONDS),
    itl: seconds('inter_token_latency', 'Between two tokens of a sequence.', TOKEN_SECONDS),
    tpot: seconds('request_time_per_output_token', 'Mean between the tokens of a request.', TOKEN_SECONDS),
    e2e: seconds('e2e_request_latency', 'Received to finished.', REQUEST_SECONDS),
    queueTime: seconds('request_queue_time', 'Received to first scheduled.', REQUEST_SECONDS),
    prefill: seconds('request_prefill_time', 'First scheduled to first token.', REQUEST_SECONDS),
    decode: seconds('request_decode_time', 'First token to finished.', REQUEST_SECONDS),
    ended: registry.counter('vllm:request_success_total', 'Requests ended, by why.', ['finished_reason']),
    rejected: registry.counter('serve_requests_rejected_total', 'Requests refused on submission.', [
      'deployment',
      'code',
    ]),
  };
}

type Feed = (value: number) => void;

/** Registers metrics without labels, and returns what feeds each of them. */
function unlabelled(registry: MetricsRegistry) {
  const histogram = (name: string, help: string, buckets: readonly number[]): Feed => {
    const metric = registry.histogram(`vllm:${name}`, help, [], buckets);
    return (value) => metric.observe({}, value);
  };
  return {
    counter: (name: string, help: string): Feed => {
      const metric = registry.counter(`vllm:${name}`, help, []);
      return (value) => metric.inc({}, value);
    },
    gauge: (name: string, help: string): Feed => {
      const metric = registry.gauge(`vllm:${name}`, help, []);
      return (value) => metric.set({}, value);
    },
    histogram,
    /** Fed in ms. */
    seconds: (name: string, help: string, buckets: readonly number[]): Feed => {
      const observe = histogram(`${name}_seconds`, help, buckets);
      return (ms) => observe(ms / 1000);
    },
  };
}
