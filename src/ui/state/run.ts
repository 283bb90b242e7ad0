import { TEXT_GENERATOR, type RequestActivity, type RequestId } from '../../client/index.ts';
import { isActive, type RequestsEvent, type RequestTables } from './request-view.ts';
import { senderOf, type Sender } from './sender.ts';
import type { SlotBar } from './slot-history.ts';

/**
 * A busy span of the text generator with one model: from the first arrival after a pause to the last step. The worker measures both
 * once the requests are in its slots, so a busy page changes neither.
 */
export interface Run {
  /** On this tab's clock. The axes begin here. */
  readonly startedAtMs: number;
  /** Undefined while a request waits or runs, or its last step is not reported. */
  readonly endedAtMs?: number | undefined;
  /** The worker has measured the start. */
  readonly isMeasured?: boolean;
  /** Undefined where the first request came before the model. */
  readonly modelId?: string | undefined;
  /** In the order of submission, those of other tabs included. */
  readonly requestIds: readonly RequestId[];
  /** Who sent those that aren't this tab's, also once their rows are gone. */
  readonly senders?: ReadonlyMap<RequestId, Sender>;
  /** Set where no text is shown. */
  readonly experiment?: Experiment | undefined;
  /** It has lost its oldest requests: it was too long to read whole. */
  readonly isPart?: boolean | undefined;
  /** The run is over: a later request starts another one, however soon it comes. */
  readonly isClosed?: boolean;
}

/** What sends requests whose texts aren't shown: a load test or a comparison, or a check of this machine. */
export type Experiment = 'trial' | 'check';

/** Requests that follow one another this closely belong to the same run, ms. */
const MAX_PAUSE_MS = 1000;
/** Those of other tabs: a press there begins a run there, and here too. */
const MAX_FOREIGN_PAUSE_MS = 250;

/** A longer run, such as a job, counts only its newest half from then on: reading all of it would be slow. */
const MAX_REQUESTS = 500;

/** The newest of each kind. */
export interface Runs {
  readonly prompts?: Run | undefined;
  /** The newest with a prompt of this tab: `prompts`, or the one that those of others alone came after. */
  readonly own?: Run | undefined;
  readonly experiment?: Run | undefined;
}

export interface RunsInput {
  readonly events: readonly RequestsEvent[];
  readonly bars: readonly SlotBar[];
  readonly modelId: string | undefined;
  readonly before: RequestTables;
  readonly after: RequestTables;
  readonly experiments: ReadonlyMap<RequestId, Experiment>;
  readonly nowMs: number;
}

/** The runs after the events of a frame. */
export function updateRuns(runs: Runs, input: RunsInput): Runs {
  const { events, before, experiments, modelId, nowMs } = input;
  let next = runs;
  // Several events of one frame may name the same request.
  const known = new Set(before.requests.keys());
  const isNew = ({ deployment, requestId }: Pick<RequestActivity, 'deployment' | 'requestId'>): boolean =>
    deployment === TEXT_GENERATOR && !known.has(requestId);
  const add = (
    requestIds: readonly RequestId[],
    atMs: number,
    senders: ReadonlyMap<RequestId, Sender> = new Map(),
  ): void => {
    const [first] = requestIds;
    if (first === undefined) return;
    for (const id of requestIds) known.add(id);
    const experiment = experiments.get(first);
    const kind = experiment ? 'experiment' : 'prompts';
    const fresh = { startedAtMs: atMs, requestIds, senders, experiment, modelId };
    next = { ...next, [kind]: withRequests(next[kind], fresh) };
  };
  for (const event of events) {
    if (event.type === 'requests') {
      for (const update of event.updates)
        if (update.type === 'submitted' && isNew(update)) add([update.requestId], event.receivedAtMs);
    } else {
      // A row may come and go within a frame, so the tables don't have them all: a job ends a thousand in a second.
      const fresh = event.activity.requests.filter((activity) => isActive(activity.state) && isNew(activity));
      const senders = new Map(fresh.map((activity) => [activity.requestId, senderOf(activity)]));
      add([...senders.keys()], nowMs, senders);
    }
  }
  const prompts = next.prompts && measured(next.prompts, input);
  return {
    prompts,
    own: firstOwnId(prompts) === undefined ? next.own && measured(next.own, input) : prompts,
    experiment: next.experiment && measured(next.experiment, input),
  };
}

/** From the first arrival to the last step of these bars, on this tab's clock; the end is undefined while one goes on. */
export function spanOf(
  bars: readonly SlotBar[],
): { readonly startedAtMs: number; readonly endedAtMs: number | undefined } | undefined {
  if (bars.length === 0) return undefined;
  const arrivals = bars.map(({ startedAtMs, spanIndex, queueWaitMs }) =>
    spanIndex === 0 ? startedAtMs - queueWaitMs : startedAtMs,
  );
  const ends = bars.map(({ endedAtMs }) => endedAtMs ?? Infinity);
  const endMs = Math.max(...ends);
  return { startedAtMs: Math.min(...arrivals), endedAtMs: endMs === Infinity ? undefined : endMs };
}

/** Whether all its requests have ended. Their last step may not be reported yet. */
export function isOver({ requestIds }: Run, { requests }: Pick<RequestTables, 'requests'>): boolean {
  return requestIds.every((id) => !isActive(requests.get(id)?.status ?? 'finished'));
}

/** The first of this tab's requests; undefined where all are of others. */
export function firstOwnId(run: Run | undefined): RequestId | undefined {
  return run?.requestIds.find((id) => !run.senders?.has(id));
}

/** The run that the charts show: the one that began last. */
export function latestRun({ prompts, experiment }: Runs): Run | undefined {
  if (!prompts || !experiment) return prompts ?? experiment;
  return experiment.startedAtMs > prompts.startedAtMs ? experiment : prompts;
}

interface WithRuns {
  readonly runs: Runs;
}

/** A new run has a fresh axis, and a run that ends has an axis that stands still. */
export function isOtherRun({ runs }: WithRuns, { runs: previousRuns }: WithRuns): boolean {
  const [run, previous] = [latestRun(runs), latestRun(previousRuns)];
  return run?.startedAtMs !== previous?.startedAtMs || run?.endedAtMs !== previous?.endedAtMs;
}

function withRequests(run: Run | undefined, fresh: Run): Run {
  const atMs = fresh.startedAtMs;
  const maxPauseMs = fresh.senders?.size ? MAX_FOREIGN_PAUSE_MS : MAX_PAUSE_MS;
  const isClose = run && !run.isClosed && atMs - (run.endedAtMs ?? atMs) <= maxPauseMs;
  const modelId = run?.modelId ?? fresh.modelId;
  if (!isClose || modelId !== fresh.modelId) return fresh;
  const requestIds = [...run.requestIds, ...fresh.requestIds];
  const senders = new Map([...(run.senders ?? []), ...(fresh.senders ?? [])]);
  if (requestIds.length <= MAX_REQUESTS)
    return { ...run, modelId, endedAtMs: undefined, requestIds, senders };
  const kept = requestIds.slice(-MAX_REQUESTS / 2);
  for (const id of requestIds.slice(0, -kept.length)) senders.delete(id);
  return { ...fresh, requestIds: kept, senders, isPart: true };
}

function measured(run: Run, { bars, after, nowMs }: RunsInput): Run {
  const ids = new Set(run.requestIds);
  const span = spanOf(bars.filter(({ requestId }) => ids.has(requestId)));
  // A request that got no slot has no bar.
  const endMs = span ? span.endedAtMs : (run.endedAtMs ?? nowMs);
  const endedAtMs = isOver(run, after) ? endMs : undefined;
  const startedAtMs =
    span && !run.isMeasured
      ? span.startedAtMs
      : Math.min(run.startedAtMs, span?.startedAtMs ?? run.startedAtMs);
  if (startedAtMs === run.startedAtMs && endedAtMs === run.endedAtMs) return run;
  return { ...run, startedAtMs, endedAtMs, isMeasured: run.isMeasured === true || span !== undefined };
}
