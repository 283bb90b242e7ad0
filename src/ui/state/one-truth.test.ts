import * as fc from 'fast-check';
import { expect, it, vi } from 'vitest';

import type { ClientUpdate, SlotSpan, StepRecord, TabserveStats } from '../../client/index.ts';
import { countBySender } from '../panels/requests/run-describer.ts';
import { describeOver } from '../panels/requests/run-text.ts';
import {
  createSlotSpan,
  createStats,
  createStatus,
  createStepRecord,
  idOf,
} from '../testing/test-support.ts';
import { LATENCY_CHART } from '../panels/watch/latency-chart.ts';
import { BATCH_SIZE_CHART } from '../panels/watch/batch-size-chart.ts';
import { timeSpanOf } from '../panels/watch/time-span.ts';
import { summarizeRun } from './run-summary.ts';
import { applyEvents, createServeStore, recordedView, type ServeEvent } from './serve-store.ts';
import { runsOf } from '../../batching/testing/whole-run.ts';

// A theme needs a page.
vi.mock(import('../drawing/resolved-color.ts'), () => ({ resolvedColor: (name) => name }));

/** From the tab's clock to the worker's. */
const CLOCK_MS = 40_000;
const MESSAGE_INTERVAL_MS = 100;

interface Sequence {
  /** After the start of the run. */
  readonly arrivalMs: number;
  readonly waitMs: number;
  readonly prefillMs: number;
  readonly numTokens: number;
}

/** What the worker posts, with its time: one sequence after the other joins, each step gives each of them a token. */
type Posted = readonly [atMs: number, event: (receivedAtMs: number) => ServeEvent];

function simulate(sequences: readonly Sequence[], stepsMs: readonly number[]): readonly Posted[] {
  const posted: Posted[] = [];
  const left = new Map(sequences.map(({ numTokens }, index) => [index, numTokens]));
  const spans = new Map<number, { startMs: number; firstMs: number; endMs?: number }>();
  let steps: (StepRecord & { endMs: number })[] = [];
  let [nowMs, sentMs, stepIndex] = [0, 0, 0];
  const post = (): void => {
    const stats = statsAt(nowMs, steps, sequences, spans);
    posted.push([nowMs, (receivedAtMs) => ({ type: 'stats', stats, receivedAtMs })]);
    for (const [index, { endMs }] of spans) if (endMs !== undefined) spans.delete(index);
    [steps, sentMs] = [[], nowMs];
  };
  const step = (kind: StepRecord['kind'], stepMs: number, slots: readonly number[]): void => {
    nowMs += stepMs;
    const record = { kind, stepMs, batchSize: slots.length, slots: [...slots], stepIndex: stepIndex++ };
    steps.push({ ...createStepRecord(record), endMs: nowMs });
  };
  while (left.size > 0) {
    const next = sequences.findIndex(
      ({ arrivalMs, waitMs }, index) => left.has(index) && !spans.has(index) && arrivalMs + waitMs <= nowMs,
    );
    const running = [...spans].flatMap(([index, { endMs }]) => (endMs === undefined ? [index] : []));
    if (next !== -1) {
      const { prefillMs = 1 } = sequences[next] ?? {};
      spans.set(next, { startMs: nowMs, firstMs: nowMs + prefillMs });
      step('prefill', prefillMs, [next]);
    } else if (running.length === 0) {
      nowMs += 1;
    } else {
      step('decode', stepsMs[stepIndex % stepsMs.length] ?? 1, running);
      for (const index of running) {
        const numLeft = (left.get(index) ?? 1) - 1;
        left.set(index, numLeft);
        if (numLeft > 0) continue;
        left.delete(index);
        spans.set(index, { startMs: 0, firstMs: 0, ...spans.get(index), endMs: nowMs });
        const updates = [finished(index, sequences[index], spans.get(index)?.firstMs)];
        posted.push([nowMs, (receivedAtMs) => ({ type: 'requests', updates, receivedAtMs })]);
      }
    }
    if (nowMs - sentMs >= MESSAGE_INTERVAL_MS) post();
  }
  post();
  return posted;
}

function statsAt(
  nowMs: number,
  steps: readonly (StepRecord & { endMs: number })[],
  sequences: readonly Sequence[],
  spans: ReadonlyMap<number, { startMs: number; firstMs: number; endMs?: number }>,
): TabserveStats {
  const slotSpans = [...spans].map(([index, { startMs, firstMs, endMs }]): SlotSpan => ({
    ...createSlotSpan({ requestId: idOf(`r${index}`), slot: index }),
    queueWaitMs: startMs - (sequences[index]?.arrivalMs ?? 0),
    startedAgoMs: nowMs - startMs,
    ...(firstMs <= nowMs && { firstTokenAgoMs: nowMs - firstMs }),
    ...(endMs !== undefined && { endedAgoMs: nowMs - endMs, end: 'length' }),
  }));
  const reported = steps.map(({ endMs, ...step }) => ({ ...step, agoMs: nowMs - endMs }));
  return createStats({ workerStartedAtMs: 9, sentAtMs: CLOCK_MS + nowMs, steps: reported, slotSpans });
}

function finished(index: number, sequence: Sequence | undefined, firstMs = 0): ClientUpdate {
  const { numTokens: numOutputTokens = 0, arrivalMs = 0, waitMs: queueWaitMs = 0 } = sequence ?? {};
  const choice = { text: '', generatedText: '', tokenIds: [], finishReason: 'length', seed: 7 } as const;
  const usage = { numPromptTokens: 2, numCachedTokens: 0, numOutputTokens };
  const timings = { queueWaitMs, ttftMs: firstMs - arrivalMs, e2eMs: 150, tpotMs: 20 };
  return {
    type: 'finished',
    requestId: idOf(`r${index}`),
    result: { ...choice, choices: [choice], usage, timings },
  };
}

/** All figures on the page after the run, read by a main thread that takes a message this long after the one before. */
function readRun(
  sequences: readonly Sequence[],
  posted: readonly Posted[],
  delaysMs: readonly number[],
): unknown {
  const store = createServeStore(createStatus());
  const updates = sequences.map((_, index): ClientUpdate => ({
    type: 'submitted',
    requestId: idOf(`r${index}`),
    deployment: 'text-generator',
    input: 'Once',
  }));
  applyEvents(store, [{ type: 'requests', updates, receivedAtMs: 0 }], 0);
  let [readAtMs, frame]: [number, ServeEvent[]] = [0, []];
  for (const [index, [atMs, event]] of posted.entries()) {
    const delayMs = delaysMs[index % delaysMs.length] ?? 0;
    readAtMs = Math.max(readAtMs, atMs + delayMs);
    frame.push(event(readAtMs));
    // A busy page takes several messages in one frame.
    if (delayMs % 2 === 1) continue;
    applyEvents(store, frame, readAtMs);
    frame = [];
  }
  applyEvents(store, frame, readAtMs);
  const view = recordedView(store);
  const run = view.runs.prompts;
  const figures = run && summarizeRun(run, view);
  const span = timeSpanOf(view, readAtMs);
  const { samples } = view.history;
  const batchSizes = BATCH_SIZE_CHART.read(view, span);
  expect(BATCH_SIZE_CHART.valueOfRun?.(batchSizes, 0, view), 'the legend at rest').toBe(
    figures?.peakBatchSize,
  );
  return exact({
    figures,
    isOver: run?.endedAtMs !== undefined,
    sentence:
      figures && describeOver({ ...figures, numBySender: run ? countBySender(run) : new Map(), tabs: [] }),
    batchSizes,
    latencies: LATENCY_CHART.read(view, span),
    lengthMs: span.endMs - span.startMs,
    samples: samples.map(({ atMs, figures: sampled }) => [atMs - span.originMs, sampled]),
  });
}

/** To the nanosecond: two sums of the same times differ in their last bits. */
function exact(value: object): unknown {
  return JSON.parse(
    JSON.stringify(value, (_key, part: unknown) =>
      typeof part === 'number' ? Number(part.toFixed(6)) : part,
    ),
  );
}

function ms(max: number): fc.Arbitrary<number> {
  return fc.integer({ min: 1, max });
}

function few<Value>(values: fc.Arbitrary<Value>): fc.Arbitrary<Value[]> {
  return fc.array(values, { minLength: 1, maxLength: 6 });
}

it('a busy or slow main thread changes no figure of a run', () => {
  const sequence = fc.record({
    arrivalMs: ms(300),
    waitMs: ms(80),
    prefillMs: ms(60),
    numTokens: fc.integer({ min: 1, max: 30 }),
  });
  const oneRun = fc.property(few(sequence), few(ms(40)), few(ms(700)), (sequences, stepsMs, delaysMs) => {
    const posted = simulate(sequences, stepsMs);
    const figures = readRun(sequences, posted, [0]);
    expect(figures).toMatchObject({ isOver: true, figures: { numRequests: sequences.length } });
    expect(readRun(sequences, posted, delaysMs)).toEqual(figures);
  });
  fc.assert(oneRun, { numRuns: runsOf({ whole: 500, part: 150 }) });
});
