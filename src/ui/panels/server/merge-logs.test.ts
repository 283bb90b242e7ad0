import { expect, it } from 'vitest';

import type { LoggedRequest, LogSlice, WorkerLog } from '../../../client/index.ts';
import { mergeLogs, sliceHour } from './merge-logs.ts';

function createSlice(startedAtMs: number, numOutputTokens = 0): LogSlice {
  return {
    startedAtMs,
    durationMs: 10_000,
    numOutputTokens,
    numSteps: 0,
    meanWaiting: 0,
    maxWaiting: 0,
    maxKvShare: 0,
    numPrefixQueries: 0,
    numPrefixHits: 0,
  };
}

function createRequest(number: number): LoggedRequest {
  return { number, endedAtMs: number, deployment: 'adder', durationMs: 1 };
}

function createLog(fields: Partial<WorkerLog>): WorkerLog {
  return { startedAtMs: 0, cursor: '', isWhole: false, requests: [], slices: [], ...fields };
}

it('adds what came since, and takes the slice that went on from the newer answer', () => {
  const before = createLog({
    isWhole: true,
    requests: [createRequest(1)],
    slices: [createSlice(0, 3), createSlice(10_000, 4)],
  });
  const next = createLog({
    cursor: 'next',
    requests: [createRequest(2)],
    slices: [createSlice(10_000, 6), createSlice(20_000, 1)],
  });
  const merged = mergeLogs(before, next);
  expect(merged.cursor).toBe('next');
  expect(merged.requests.map(({ number }) => number)).toEqual([1, 2]);
  expect(merged.slices.map(({ numOutputTokens }) => numOutputTokens)).toEqual([3, 6, 1]);
  expect(mergeLogs(merged, createLog({})).slices, 'nothing came').toEqual(merged.slices);
});

it('begins anew with the log of another worker', () => {
  const next = createLog({ isWhole: true, requests: [createRequest(1)] });
  expect(mergeLogs(createLog({ requests: [createRequest(7)] }), next)).toBe(next);
});

it('keeps 1,000 requests and an hour', () => {
  const requests = Array.from({ length: 999 }, (_, index) => createRequest(index + 1));
  const before = createLog({ isWhole: true, requests, slices: [createSlice(0), createSlice(10_000)] });
  const next = createLog({
    requests: [1000, 1001].map(createRequest),
    slices: [createSlice(3_600_000)],
  });
  const merged = mergeLogs(before, next);
  expect([merged.requests.length, merged.requests[0]?.number]).toEqual([1000, 2]);
  expect(merged.slices.map(({ startedAtMs }) => startedAtMs)).toEqual([10_000, 3_600_000]);
});

it('has a place for each 10 s of the hour, the current one last, and says what is not known', () => {
  const log = createLog({ startedAtMs: 25_000, slices: [createSlice(40_000), createSlice(3_600_000, 5)] });
  const hour = sliceHour(log, 3_605_000);
  expect(hour).toHaveLength(360);
  expect(hour.at(-1)).toEqual([3_600_000, createSlice(3_600_000, 5)]);
  expect(hour.slice(0, 4)).toEqual([
    [10_000, 'unknown'],
    [20_000, 'idle'],
    [30_000, 'idle'],
    [40_000, createSlice(40_000)],
  ]);
});
