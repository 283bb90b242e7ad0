import {
  DEFAULT_POLICY,
  type BackendInfo,
  type BatchRecord,
  type ClientId,
  type ModelInfo,
  type RequestId,
  type TabserveStats,
  type TabserveStatus,
  type SlotSpan,
  type StepRecord,
} from '../../client/index.ts';
import type { RequestView } from '../state/request-view.ts';
import type { SlotBar } from '../state/slot-history.ts';

export function idOf(name: string): RequestId {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a brand has no other way in
  return name as RequestId;
}

export const OTHER_TAB =
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a brand has no other way in
  '07c3' as ClientId;

export const WEBGPU = {
  name: 'webgpu',
  rung: 'webgpu-fp16',
  precision: 'fp16',
  adapter: 'a GPU',
  fallbackReason: '',
} as const satisfies BackendInfo;

export const MODEL: ModelInfo = {
  id: 'storyteller',
  numParameters: 1_090_000,
  numLayers: 4,
  contextLength: 512,
  vocabSize: 4096,
  hasChatTemplate: false,
  generationDefaults: {
    maxNewTokens: 64,
    temperature: 1,
    topK: 50,
    topP: 1,
    minP: 0,
    repetitionPenalty: 1,
    presencePenalty: 0,
    frequencyPenalty: 0,
    n: 1,
    stop: [],
  },
};

/** The tab that asks leads. */
export function createTabs(...numbers: readonly number[]): Pick<TabserveStatus, 'tabs' | 'numTabs'> {
  const tabs = numbers.map((number, index) => ({ number, isThis: index === 0, isLeader: index === 0 }));
  return { tabs, numTabs: tabs.length };
}

/** The status of a tab that leads, alone, where nothing has been changed. */
export function createStatus(change: Partial<TabserveStatus> = {}): TabserveStatus {
  return {
    state: 'ready',
    role: 'leader',
    policy: DEFAULT_POLICY,
    deployments: [],
    ...createTabs(1),
    isHandover: false,
    isolationReason: '',
    waitReason: '',
    ...change,
  };
}

/** The bar of a span that goes on: it waited from 300 ms, has its slot from 400 and its first token at 500. */
export function createBar(change: Partial<SlotBar> = {}): SlotBar {
  return {
    key: 'a#0#0',
    requestId: idOf('a'),
    index: 0,
    slot: 0,
    lane: 0,
    spanIndex: 0,
    queueWaitMs: 100,
    numTokens: 3,
    firstStepIndex: 0,
    lastStepIndex: 5,
    startedAtMs: 400,
    firstTokenAtMs: 500,
    ...change,
  };
}

/** The span of a sequence that runs, as the worker reports it. */
export function createSlotSpan(change: Partial<SlotSpan> = {}): SlotSpan {
  return {
    requestId: idOf('a'),
    index: 0,
    slot: 0,
    spanIndex: 0,
    queueWaitMs: 0,
    startedAgoMs: 100,
    numTokens: 0,
    firstStepIndex: 0,
    lastStepIndex: 0,
    ...change,
  };
}

export function createStepRecord(change: Partial<StepRecord> = {}): StepRecord {
  return {
    stepIndex: 0,
    kind: 'decode',
    reason: 'idle',
    outcome: 'ok',
    isBehind: false,
    batchSize: 1,
    numTokens: 1,
    queueLength: 0,
    waitMs: 0,
    stepMs: 10,
    runMs: 9,
    readbackMs: 0,
    numGuessedTokens: 0,
    numRightGuesses: 0,
    agoMs: 0,
    slots: [],
    ...change,
  };
}

const NO_LATENCY: TabserveStats['ttftMs'] = { count: 0, p50: 0, p95: 0, p99: 0 };

export const NO_TOTALS: TabserveStats['totals'] = {
  submitted: 0,
  finished: 0,
  cancelled: 0,
  failed: 0,
  rejected: 0,
  promptTokens: 0,
  outputTokens: 0,
  prefixCacheQueries: 0,
  prefixCacheHits: 0,
};

/** The figures of an engine that runs one sequence and has measured nothing yet. */
export function createStats(change: Partial<TabserveStats> = {}): TabserveStats {
  return {
    workerStartedAtMs: 0,
    sentAtMs: 0,
    steps: [],
    slotSpans: [],
    numRunning: 1,
    numWaiting: 0,
    kvCache: { usedBytes: 0, reservedBytes: 0 },
    tokensPerSecond: 0,
    ttftMs: NO_LATENCY,
    itlMs: NO_LATENCY,
    queueWaitMs: NO_LATENCY,
    e2eMs: NO_LATENCY,
    finishReasons: { stop: 0, length: 0, abort: 0, error: 0 },
    totals: NO_TOTALS,
    ...change,
  };
}

/** The parts of a message that the history keeps. It was read at once, unless `sentAtMs` says otherwise. */
export function createReport(
  change: Partial<TabserveStats>,
  receivedAtMs: number,
): readonly [stats: TabserveStats, receivedAtMs: number] {
  return [createStats({ sentAtMs: receivedAtMs, ...change }), receivedAtMs];
}

/** A full batch of four. */
export function createBatch(change: Partial<BatchRecord> = {}): BatchRecord {
  return {
    deployment: 'adder',
    batchIndex: 0,
    reason: 'full',
    outcome: 'ok',
    batchSize: 4,
    measuredSize: 4,
    maxBatchSize: 4,
    cancelled: 0,
    queueLength: 0,
    waitMs: 0,
    executionMs: 200,
    ...change,
  };
}

/** A request of this tab that is over. */
export function createRequest(name: string, change: Partial<RequestView> = {}): RequestView {
  return {
    id: idOf(name),
    status: 'finished',
    prompt: `${name}:`,
    generatedTexts: [' text'],
    numOutputTokens: 64,
    finishReason: 'length',
    seed: 7,
    ...change,
  };
}

/** A run of these requests, which has ended. */
export function createTables(requests: readonly RequestView[], namesOfRun: readonly string[]) {
  const run = { startedAtMs: 1000, endedAtMs: 1600, requestIds: namesOfRun.map(idOf) };
  return {
    requests: new Map(requests.map((request) => [request.id, request])),
    runs: { prompts: run, own: run },
  };
}
