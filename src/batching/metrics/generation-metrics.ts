import type {
  FailedEvent,
  FinishedEvent,
  PromptScoredEvent,
  RequestTimings,
  StartedEvent,
  StepEvent,
  TokenEvent,
} from '../generation/events.ts';
import type { KvUsage } from '../generation/kv-planner.ts';
import type { MetricsRegistry } from './registry.ts';

export interface EngineGauges {
  readonly numRunning: number;
  readonly numWaiting: number;
  readonly kvCache: KvUsage;
}

/** The measured part of a request's events. An upstream reports no more than this. */
export type MeasuredEvent =
  | Omit<StartedEvent, 'requestId'>
  | Pick<PromptScoredEvent, 'type'>
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

/**
 * vLLM's names, for what its engine measures as well; its label `model_name` is left out, since one model is served. Registers
 * what it feeds, or feeds what the registry has under these names.
 */
export function createGenerationMetrics(registry: MetricsRegistry, deployment: string): GenerationMetrics {
  const { counter, gauge, histogram, seconds } = unlabelled(registry);
  const promptTokens = counter('prompt_tokens_total', 'Prompt tokens accepted.');
  const generationTokens = counter('generation_tokens_total', 'Output tokens.');
  const prefixQueries = counter(
    'prefix_cache_queries_total',
    'Tokens looked up in the K/V rows of other sequences.',
  );
  const prefixHits = counter('prefix_cache_hits_total', 'Of these, tokens whose K/V was reused.');
  const stepTokens = histogram('iteration_tokens_total', 'Tokens of a step.', STEP_TOKENS);
  const running = gauge('num_requests_running', 'Requests in the batch.');
  const waiting = gauge('num_requests_waiting', 'Requests in the queue.');
  const kvUsage = gauge(
    'kv_cache_usage_perc',
    'K/V memory that running sequences fill, of what is reserved; 1 = all.',
  );
  const ttft = seconds('time_to_first_token', 'Received to first token.', TTFT_SECONDS);
  const itl = seconds('inter_token_latency', 'Between two tokens of a sequence.', TOKEN_SECONDS);
  const tpot = seconds(
    'request_time_per_output_token',
    'Mean between the tokens of a request.',
    TOKEN_SECONDS,
  );
  const e2e = seconds('e2e_request_latency', 'Received to finished.', REQUEST_SECONDS);
  const queueTime = seconds('request_queue_time', 'Received to first scheduled.', REQUEST_SECONDS);
  const prefill = seconds('request_prefill_time', 'First scheduled to first token.', REQUEST_SECONDS);
  const decode = seconds('request_decode_time', 'First token to finished.', REQUEST_SECONDS);
  const ended = registry.counter('vllm:request_success_total', 'Requests ended, by why.', [
    'finished_reason',
  ]);
  const rejected = registry.counter('serve_requests_rejected_total', 'Requests refused at the door.', [
    'deployment',
    'code',
  ]);

  const setGauges = ({ numRunning, numWaiting, kvCache }: EngineGauges): void => {
    running(numRunning);
    waiting(numWaiting);
    kvUsage(kvCache.reservedBytes && kvCache.usedBytes / kvCache.reservedBytes);
  };
  const observeRequest = ({ queueWaitMs, ttftMs, e2eMs, tpotMs }: RequestTimings): void => {
    e2e(e2eMs);
    queueTime(queueWaitMs);
    prefill(ttftMs - queueWaitMs);
    decode(e2eMs - ttftMs);
    tpot(tpotMs);
  };
  const record = (event: MeasuredEvent): void => {
    if (event.type === 'started') {
      prefixQueries(event.numPrefillTokens);
      prefixHits(event.numReusedTokens);
    } else if (event.type === 'token') {
      generationTokens(1);
      if (event.ttftMs !== undefined) ttft(event.ttftMs);
      if (event.itlMs !== undefined) itl(event.itlMs);
    } else if (event.type !== 'prompt-scored') {
      ended.inc({ finished_reason: event.finishReason });
      if (event.type === 'finished') observeRequest(event.timings);
    }
  };
  const onEvents = (events: readonly MeasuredEvent[], state: EngineGauges): void => {
    for (const event of events) record(event);
    setGauges(state);
  };
  return {
    onSubmitted: promptTokens,
    onRejected: (code) => rejected.inc({ deployment, code }),
    onStep: ({ numTokens, requests }, state) => {
      stepTokens(numTokens);
      onEvents(requests, state);
    },
    onEvents,
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
