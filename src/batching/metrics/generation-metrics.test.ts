import { describe, expect, it } from 'vitest';
import { RequestCancelledError } from '../base/errors.ts';
import type { RequestEvent, StepEvent } from '../generation/events.ts';
import { requestId } from '../generation/test-support.ts';
import { createGenerationMetrics } from './generation-metrics.ts';
import { toPrometheusText } from './prometheus.ts';
import { MetricsRegistry } from './registry.ts';

const id = requestId('a');
const GAUGES = { numRunning: 3, numWaiting: 5, kvCache: { usedBytes: 25, reservedBytes: 100 } };

const STEP: StepEvent = {
  stepIndex: 0,
  kind: 'decode',
  reason: 'idle',
  isBehind: false,
  batchSize: 2,
  numTokens: 2,
  numGuessedTokens: 0,
  numRightGuesses: 0,
  queueLength: 0,
  stepMs: 50,
  runMs: 10,
  readbackMs: 35,
  endedAtMs: 0,
  rows: [],
  requests: [],
};

function createMetrics() {
  const registry = new MetricsRegistry();
  const metrics = createGenerationMetrics(registry, 'text-generator');
  const step = (...requests: RequestEvent[]): void => metrics.onStep({ ...STEP, requests }, GAUGES);
  /** The samples of these metrics, without their buckets, by name. */
  const lines = (...names: string[]): string[] =>
    toPrometheusText(registry.snapshot())
      .split('\n')
      .filter((line) => names.some((name) => line.startsWith(`vllm:${name}`)) && !line.includes('_bucket'));
  return { registry, metrics, step, lines };
}

describe("the text generator's metrics, under vLLM's names", () => {
  it('tell what runs and waits, and how full the K/V cache is', () => {
    const { step, lines } = createMetrics();
    step();
    expect(lines('num_requests', 'kv_cache')).toEqual([
      'vllm:kv_cache_usage_perc 0.25',
      'vllm:num_requests_running 3',
      'vllm:num_requests_waiting 5',
    ]);
  });

  it('count tokens, those of prefixes looked up and found, and guesses', () => {
    const { metrics, step, lines } = createMetrics();
    metrics.onSubmitted(7);
    step({ type: 'started', requestId: id, queueWaitMs: 5, numPrefillTokens: 7, numReusedTokens: 6 });
    step({ type: 'token', requestId: id, tokenId: 1, ttftMs: 20 });
    metrics.onStep({ ...STEP, numGuessedTokens: 5, numRightGuesses: 3 }, GAUGES);
    step({ type: 'token', requestId: id, tokenId: 1, itlMs: 30 });
    expect(lines('spec_decode')).toEqual([
      'vllm:spec_decode_num_accepted_tokens_total 3',
      'vllm:spec_decode_num_draft_tokens_total 5',
    ]);
    expect(lines('prompt', 'generation', 'prefix', 'iteration')).toEqual([
      'vllm:generation_tokens_total 2',
      'vllm:iteration_tokens_total_sum 8',
      'vllm:iteration_tokens_total_count 4',
      'vllm:prefix_cache_hits_total 6',
      'vllm:prefix_cache_queries_total 7',
      'vllm:prompt_tokens_total 7',
    ]);
  });

  it('measure latencies in seconds, the parts of a request as it ends', () => {
    const { step, lines } = createMetrics();
    step({ type: 'token', requestId: id, tokenId: 1, ttftMs: 250 });
    step({ type: 'token', requestId: id, tokenId: 1, itlMs: 125 });
    step({
      type: 'finished',
      requestId: id,
      finishReason: 'stop',
      tokenIds: [1, 1],
      numPromptTokens: 7,
      numOutputTokens: 3,
      timings: { queueWaitMs: 125, ttftMs: 250, e2eMs: 1000, tpotMs: 375 },
    });
    expect(
      lines('time_to', 'inter', 'e2e', 'request_queue', 'request_prefill', 'request_decode', 'request_time'),
    ).toEqual(
      [
        ['e2e_request_latency', 1],
        ['inter_token_latency', 0.125],
        ['request_decode_time', 0.75],
        ['request_prefill_time', 0.125],
        ['request_queue_time', 0.125],
        ['request_time_per_output_token', 0.375],
        ['time_to_first_token', 0.25],
      ].flatMap(([name, sum]) => [`vllm:${name}_seconds_sum ${sum}`, `vllm:${name}_seconds_count 1`]),
    );
  });

  it('count how requests end, and those refused on submission by code', () => {
    const { registry, metrics, lines } = createMetrics();
    const error = RequestCancelledError.because(undefined);
    const failed = { type: 'failed', requestId: id, error } as const;
    metrics.onEvents(
      [
        { ...failed, finishReason: 'abort' },
        { ...failed, finishReason: 'abort' },
        { ...failed, finishReason: 'error' },
      ],
      GAUGES,
    );
    metrics.onRejected('BACK_PRESSURE');
    expect(lines('request_success')).toEqual([
      'vllm:request_success_total{finished_reason="abort"} 2',
      'vllm:request_success_total{finished_reason="error"} 1',
    ]);
    expect(toPrometheusText(registry.snapshot())).toContain(
      'serve_requests_rejected_total{code="BACK_PRESSURE",deployment="text-generator"} 1',
    );
  });
});
