import type {
  FailedEvent,
  FinishedEvent,
  PromptScoredEvent,
  StartedEvent,
  StepEvent,
  TokenEvent,
} from '../generation/events.ts';
import type { KvUsage } from '../generation/kv-planner.ts';
import type { HistogramMetric, MetricsRegistry } from './registry.ts';

/** How the engine stands. */
export interface EngineGauges {
  readonly numRunning: number;
  readonly numWaiting: number;
  readonly kvCache: KvUsage;
}

/** What is measured of a request's event; whoever generates elsewhere tells no more than this. */
export type MeasuredEvent =
  | Omit<StartedEvent, 'requestId'>
  | Pick<PromptScoredEvent, 'type'>
  | Pick<TokenEvent, 'type' | 'ttftMs' | 'itlMs'>
  | Pick<FinishedEvent, 'type' | 'finishReason' | 'timings'>
  | Pick<FailedEvent, 'type' | 'finishReason'>;

/** What the text generator does with its requests, a continuation counted as one. */
export interface GenerationMetrics {
  onSubmitted(numPromptTokens: number): void;
  /** For each request refused at the door; `code` is that of the error. */
  onRejected(code: string): void;
  onStep(event: StepEvent, gauges: EngineGauges): void;
  /** Outside a step. */
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

const MS_PER_SECOND = 1000;
const NO_LABELS = {};

/**
 * vLLM's names, for what its engine measures as well; its label `model_name` is left out, since one model is served. Registers
 * what it feeds, or feeds what the registry has under these names.
 */
export function createGenerationMetrics(registry: MetricsRegistry, deployment: string): GenerationMetrics {
  const counters = registerCounters(registry);
  const gauges = registerGauges(registry);
  const latencies = registerLatencies(registry);
  const setGauges = ({ numRunning, numWaiting, kvCache }: EngineGauges): void => {
    gauges.running.set(NO_LABELS, numRunning);
    gauges.waiting.set(NO_LABELS, numWaiting);
    gauges.kvCacheUsage.set(NO_LABELS, kvCache.reservedBytes && kvCache.usedBytes / kvCache.reservedBytes);
  };
  const record = (event: MeasuredEvent): void => {
    switch (event.type) {
      case 'started':
        counters.prefixQueries.inc(NO_LABELS, event.numPrefillTokens);
        counters.prefixHits.inc(NO_LABELS, event.numReusedTokens);
        break;
      case 'prompt-scored':
        break;
      case 'token':
        counters.generationTokens.inc(NO_LABELS);
        if (event.ttftMs !== undefined) latencies.ttft.observe(NO_LABELS, event.ttftMs / MS_PER_SECOND);
        if (event.itlMs !== undefined) latencies.itl.observe(NO_LABELS, event.itlMs / MS_PER_SECOND);
        break;
      case 'finished':
        counters.ended.inc({ finished_reason: event.finishReason });
        observeRequest(latencies, event);
        break;
      case 'failed':
        counters.ended.inc({ finished_reason: event.finishReason });
        break;
      default:
        event satisfies never;
    }
  };
  return {
    onSubmitted: (numPromptTokens) => counters.promptTokens.inc(NO_LABELS, numPromptTokens),
    onRejected: (code) => counters.rejected.inc({ deployment, code }),
    onStep: (event, state) => {
      counters.stepTokens.observe(NO_LABELS, event.numTokens);
      for (const request of event.requests) record(request);
      setGauges(state);
    },
    onEvents: (events, state) => {
      for (const event of events) record(event);
      setGauges(state);
    },
  };
}

function observeRequest(latencies: Latencies, { timings }: Pick<FinishedEvent, 'timings'>): void {
  const { queueWaitMs, ttftMs, e2eMs, tpotMs } = timings;
  latencies.e2e.observe(NO_LABELS, e2eMs / MS_PER_SECOND);
  latencies.queue.observe(NO_LABELS, queueWaitMs / MS_PER_SECOND);
  latencies.prefill.observe(NO_LABELS, (ttftMs - queueWaitMs) / MS_PER_SECOND);
  latencies.decode.observe(NO_LABELS, (e2eMs - ttftMs) / MS_PER_SECOND);
  latencies.tpot.observe(NO_LABELS, tpotMs / MS_PER_SECOND);
}

function registerCounters(registry: MetricsRegistry) {
  return {
    promptTokens: registry.counter('vllm:prompt_tokens_total', 'Prompt tokens accepted.', []),
    generationTokens: registry.counter('vllm:generation_tokens_total', 'Output tokens.', []),
    prefixQueries: registry.counter(
      'vllm:prefix_cache_queries_total',
      'Tokens looked up in the K/V rows of other sequences.',
      [],
    ),
    prefixHits: registry.counter(
      'vllm:prefix_cache_hits_total',
      'Of these, tokens whose K/V was reused.',
      [],
    ),
    ended: registry.counter('vllm:request_success_total', 'Requests ended, by why.', ['finished_reason']),
    stepTokens: registry.histogram('vllm:iteration_tokens_total', 'Tokens of a step.', [], STEP_TOKENS),
    rejected: registry.counter('serve_requests_rejected_total', 'Requests refused at the door.', [
      'deployment',
      'code',
    ]),
  };
}

function registerGauges(registry: MetricsRegistry) {
  return {
    running: registry.gauge('vllm:num_requests_running', 'Requests in the batch.', []),
    waiting: registry.gauge('vllm:num_requests_waiting', 'Requests in the queue.', []),
    kvCacheUsage: registry.gauge(
      'vllm:kv_cache_usage_perc',
      'K/V memory that running sequences fill, of what is reserved; 1 = all.',
      [],
    ),
  };
}

type Latencies = ReturnType<typeof registerLatencies>;

function registerLatencies(registry: MetricsRegistry) {
  const seconds = (name: string, help: string, buckets: readonly number[]): HistogramMetric<never> =>
    registry.histogram(`vllm:${name}_seconds`, help, [], buckets);
  return {
    ttft: seconds('time_to_first_token', 'Received to first token.', TTFT_SECONDS),
    itl: seconds('inter_token_latency', 'Between two tokens of a sequence.', TOKEN_SECONDS),
    tpot: seconds('request_time_per_output_token', 'Mean between the tokens of a request.', TOKEN_SECONDS),
    e2e: seconds('e2e_request_latency', 'Received to finished.', REQUEST_SECONDS),
    queue: seconds('request_queue_time', 'Received to first scheduled.', REQUEST_SECONDS),
    prefill: seconds('request_prefill_time', 'First scheduled to first token.', REQUEST_SECONDS),
    decode: seconds('request_decode_time', 'First token to finished.', REQUEST_SECONDS),
  };
}
