// oxlint-disable typescript/no-unsafe-type-assertion -- misuse is what some of these tests are about
import { describe, expect, expectTypeOf, it } from 'vitest';
import type { BatchOptions } from './batch.ts';
import { fromRayConfig } from './ray-config.ts';

describe('fromRayConfig', () => {
  it("translates the fourth seed's configuration", () => {
    const options = fromRayConfig({
      max_batch_size: 32,
      timeout_s: 0.1,
      stride_s: 0,
      allow_small_batch: true,
    });
    expect(options).toEqual({
      maxBatchSize: 32,
      batchWaitTimeoutMs: 100,
      strideMs: 0,
      allowSmallBatch: true,
    });
    expectTypeOf(options).toEqualTypeOf<BatchOptions<unknown>>();
  });

  it("translates Ray's own names", () => {
    expect(
      fromRayConfig({
        max_batch_size: 4,
        batch_wait_timeout_s: 0.01,
        max_concurrent_batches: 2,
        max_queued_requests: 100,
      }),
    ).toEqual({ maxBatchSize: 4, batchWaitTimeoutMs: 10, maxConcurrentBatches: 2, maxQueuedRequests: 100 });
  });

  it('reads max_queued_requests -1 as no limit', () => {
    expect(fromRayConfig({ max_queued_requests: -1 })).toEqual({ maxQueuedRequests: Infinity });
  });

  it('leaves out what the configuration leaves out, or has as undefined', () => {
    expect(fromRayConfig({})).toEqual({});
    expect(fromRayConfig({ timeout_s: undefined, batch_wait_timeout_s: 1 })).toEqual({
      batchWaitTimeoutMs: 1000,
    });
  });
});

describe('fromRayConfig rejects', () => {
  it.each([
    [{ max_batchsize: 4 }, TypeError, 'Unknown key `max_batchsize`'],
    [{ toString: 4 }, TypeError, 'Unknown key `toString`'],
    [
      { timeout_s: 1, batch_wait_timeout_s: 1 },
      TypeError,
      '`timeout_s` and `batch_wait_timeout_s`, got both',
    ],
    [{ max_batch_size: 0 }, RangeError, 'Expected `max_batch_size` to be an integer >= 1, got `0` (number)'],
    [{ max_batch_size: null }, TypeError, 'got `null` (object)'],
    [{ timeout_s: '0.1' }, TypeError, 'Expected `timeout_s` to be a finite number >= 0, got `0.1` (string)'],
    [{ stride_s: -1 }, RangeError, 'Expected `stride_s`'],
    [
      { allow_small_batch: 'yes' },
      TypeError,
      'Expected `allow_small_batch` to be a boolean, got `yes` (string)',
    ],
    [{ max_queued_requests: 0 }, RangeError, 'Expected `max_queued_requests`'],
    [{ max_queued_requests: -2 }, RangeError, 'Expected `max_queued_requests`'],
    [{ max_concurrent_batches: true }, TypeError, 'Expected `max_concurrent_batches`'],
    [null, TypeError, 'Expected `config` to be an object, got `null` (object)'],
    ['config', TypeError, 'Expected `config` to be an object'],
  ])('%j', (config, ErrorClass, message) => {
    const read = () => fromRayConfig(config as unknown as Readonly<Record<string, unknown>>);
    expect(read).toThrow(ErrorClass);
    expect(read).toThrow(message);
    expect(read).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }));
  });
});
