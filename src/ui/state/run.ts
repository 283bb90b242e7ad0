import { TEXT_GENERATOR, type RequestId, type SlotSpan } from '../../client/index.ts';
import type { RequestsEvent, RequestTables } from './request-tables.ts';
import { isActive } from './request-view.ts';

/** A busy span of the text generator: from the first request after a pause to the end of the last one. */
export interface Run {
  /** On this tab's clock. The axes begin here. */
  readonly startedAtMs: number;
  /** Undefined while a request waits or runs. */
  readonly endedAtMs?: number | undefined;
  /** In the order of submission, those of other tabs included. */
  readonly requestIds: readonly RequestId[];
  /** Requests of a load test or a comparison, whose texts aren't shown. */
  readonly isExperiment: boolean;
  /** Nothing joins it any more, however soon it comes. */
  readonly isClosed?: boolean;
}

/** Requests that follow one another this closely belong to the same run, ms. */
const MAX_PAUSE_MS = 1000;

/** The newest of each kind. */
export interface Runs {
  readonly prompts?: Run | undefined;
  readonly experiment?: Run | undefined;
}

export interface ReceivedSpan {
  readonly slotSpan: SlotSpan;
  readonly receivedAtMs: number;
}

export interface RunsInput {
  readonly events: readonly RequestsEvent[];
  readonly slotSpans: readonly ReceivedSpan[];
  readonly before: RequestTables;
  readonly after: RequestTables;
  readonly experimentIds: ReadonlySet<RequestId>;
  readonly nowMs: number;
}

/** The runs after the events of a frame. */
export function updateRuns(runs: Runs, input: RunsInput): Runs {
  const { events, before, after, experimentIds, nowMs } = input;
  let next = runs;
  const added = new Set<RequestId>();
  const add = (requestId: RequestId, atMs: number): void => {
    // Several events of one frame may name the same request.
    if (added.has(requestId)) return;
    added.add(requestId);
    const kind = experimentIds.has(requestId) ? 'experiment' : 'prompts';
    next = { ...next, [kind]: withRequest(next[kind], requestId, atMs, kind === 'experiment') };
  };
  for (const event of events) {
    if (event.type === 'requests') {
      for (const update of event.updates) {
        const isNew = update.type === 'submitted' && update.deployment === TEXT_GENERATOR;
        if (isNew && !before.requests.has(update.requestId)) add(update.requestId, event.receivedAtMs);
      }
    } else {
      for (const { requestId } of event.activity.requests)
        if (after.requests.has(requestId) && !before.requests.has(requestId)) add(requestId, nowMs);
    }
  }
  return {
    prompts: next.prompts && settled(withSpans(next.prompts, input), after, nowMs),
    experiment: next.experiment && settled(withSpans(next.experiment, input), after, nowMs),
  };
}

/** The run that the charts show: the one that began last. */
export function latestRun({ prompts, experiment }: Runs): Run | undefined {
  if (!prompts || !experiment) return prompts ?? experiment;
  return experiment.startedAtMs > prompts.startedAtMs ? experiment : prompts;
}

function withRequest(run: Run | undefined, id: RequestId, atMs: number, isExperiment: boolean): Run {
  const isJoining = run && !run.isClosed && atMs - (run.endedAtMs ?? atMs) <= MAX_PAUSE_MS;
  if (!isJoining) return { startedAtMs: atMs, requestIds: [id], isExperiment };
  return { ...run, endedAtMs: undefined, requestIds: [...run.requestIds, id] };
}

/** Requests of other tabs are reported late: their spans in the slots say when they came. */
function withSpans(run: Run, { slotSpans }: RunsInput): Run {
  const arrivals = slotSpans
    .filter(({ slotSpan }) => run.requestIds.includes(slotSpan.requestId))
    .map(({ slotSpan, receivedAtMs }) => receivedAtMs - slotSpan.startedAgoMs - slotSpan.queueWaitMs);
  const startedAtMs = Math.min(run.startedAtMs, ...arrivals);
  return startedAtMs < run.startedAtMs ? { ...run, startedAtMs } : run;
}

function settled(run: Run, { requests }: RequestTables, nowMs: number): Run {
  if (run.endedAtMs !== undefined) return run;
  const isOver = run.requestIds.every((id) => !isActive(requests.get(id)?.status ?? 'finished'));
  return isOver ? { ...run, endedAtMs: nowMs } : run;
}
