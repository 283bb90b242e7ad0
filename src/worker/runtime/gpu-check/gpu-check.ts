import { systemClock } from '../../../batching/base/clock.ts';
import { Engine } from '../../../batching/generation/engine.ts';
import type { StepEvent } from '../../../batching/generation/events.ts';
import { GREEDY, type GenerationRequest } from '../../../batching/generation/request.ts';
import type { ModelRunner } from '../../../batching/generation/model-runner.ts';
import { RuntimeLostError } from '../../../batching/generation/runtime-lost-error.ts';
import { checkpointWeights } from '../../models/checkpoint/convert-weights.ts';
import { layOut } from '../../models/checkpoint/packed-weights.ts';
import { readModel } from '../../models/families/families.ts';
import { importPart } from '../../base/import-part.ts';
import { createClientId, createRequestId } from '../../../protocol/ids.ts';
import type { CheckedModel } from '../loaded-model.ts';
import type { ModelBackend } from '../model-backend.ts';
import { BackendRunner } from '../runner.ts';
import type { Runtime } from '../runtime.ts';
import { seededTensors } from './seeded-tensors.ts';
import { findWrongValues, type ComputedRow, type ComputedToken, type ExpectedRow } from './verdict.ts';

/** The last row joins when its twin has this many tokens. Their prompts have the same beginning. */
const TWIN = 3;
const NUM_TWIN_TOKENS = 4;

/** As in `tools/reference/gpu-check/reference.py`: without it, the texts repeat one token. */
const PRESENCE_PENALTY = 2;

const NUM_TOP = 4;

/**
 * Runs a tiny model of the same operators, as the model itself runs: ragged prompts, shared prefills, steps that are captured and
 * replayed, a late joiner that reuses a prefix, rows that move, the sampler. Compares its logprobs with those of float64.
 *
 * @returns Where values are wrong; undefined if none is, or the reference has no model of this type.
 * @throws RuntimeLostError if a step fails.
 */
export async function findWrongValuesOf(
  runtime: Pick<Runtime, 'createGenerator'>,
  { modelType, dtype, precision }: CheckedModel,
  report: (done: number, total: number) => void,
): Promise<string | undefined> {
  const known = await knownCaseOf(modelType);
  if (!known) return undefined;
  const { config, seed, rows } = known;
  const model = readModel(config, undefined);
  const layout = layOut(model.program.weights, dtype, precision);
  const packed = checkpointWeights({ tensors: seededTensors(model, seed) }, { layout });
  const backend = await runtime.createGenerator({ model, ...packed });
  try {
    return findWrongValues(rows, await compute(backend, model.config.contextLength, rows, report), precision);
  } finally {
    await backend.release();
  }
}

/** Whether the reference has a model of this type. */
export async function hasKnownValues({ modelType }: CheckedModel): Promise<boolean> {
  return (await knownCaseOf(modelType)) !== undefined;
}

async function knownCaseOf(modelType: string) {
  // Most starts don't need it.
  const { default: reference } = await importPart(() => import('./reference.json'));
  return reference.cases.find(({ modelTypes }) => modelTypes.includes(modelType));
}

interface RowInCheck {
  readonly request: GenerationRequest;
  readonly tokens: ComputedToken[];
  place: number;
  isNaN: boolean;
  isOver: boolean;
}

async function compute(
  backend: ModelBackend,
  contextLength: number,
  expected: readonly ExpectedRow[],
  report: (done: number, total: number) => void,
): Promise<readonly ComputedRow[]> {
  const rows = expected.map(rowOf);
  const total = expected.reduce((sum, { steps }) => sum + steps.length, 0);
  const { promise: done, resolve, reject } = Promise.withResolvers<void>();
  let joiner = rows.at(-1);
  const onEvents: OnEvents = (events, places) => {
    record(rows, events, places);
    if (joiner && hasTwinTokens(rows)) {
      engine.submitAll([joiner.request]);
      joiner = undefined;
    }
    const numDone = rows.reduce((sum, { tokens }) => sum + tokens.length, 0);
    report(numDone, total);
    if (rows.every(({ isOver }) => isOver)) resolve();
  };
  const engine = createEngine(backend, contextLength, onEvents, reject);
  engine.submitAll(rows.slice(0, -1).map(({ request }) => request));
  await done;
  await engine.close();
  return rows;
}

/** @param places The rows of the step, in order. */
type OnEvents = (events: StepEvent['requests'], places: StepEvent['rows']) => void;

function createEngine(
  backend: ModelBackend,
  contextLength: number,
  onEvents: OnEvents,
  onRuntimeLost: (error: RuntimeLostError) => void,
): Engine {
  return new Engine({
    runner: losingRunner(new BackendRunner(backend)),
    clock: systemClock,
    contextLength,
    eosTokenIds: [],
    listener: {
      onStep: ({ requests, rows }) => onEvents(requests, rows),
      onEnded: (events) => onEvents(events, []),
      onRuntimeLost,
    },
  });
}

function record(rows: readonly RowInCheck[], events: StepEvent['requests'], places: StepEvent['rows']): void {
  for (const event of events) {
    const row = rows.find(({ request }) => request.id === event.requestId);
    if (!row) continue;
    const place = places.findIndex(({ requestId }) => requestId === event.requestId);
    row.place = Math.max(0, place);
    if (event.type === 'token')
      row.tokens.push({ tokenId: event.tokenId, top: event.logprobs?.top ?? [], place: row.place });
    row.isNaN ||= event.type === 'failed';
    row.isOver ||= event.type === 'finished' || event.type === 'failed';
  }
}

/** Whether the last row may join. */
function hasTwinTokens(rows: readonly RowInCheck[]): boolean {
  const twin = rows[TWIN];
  return twin !== undefined && (twin.tokens.length >= NUM_TWIN_TOKENS || twin.isOver);
}

function rowOf({ promptTokenIds, steps }: ExpectedRow): RowInCheck {
  const request = {
    id: createRequestId(),
    clientId: createClientId(),
    promptTokenIds,
    maxNewTokens: steps.length,
    sampling: { ...GREEDY, presencePenalty: PRESENCE_PENALTY, logprobs: NUM_TOP },
  };
  return { request, tokens: [], place: 0, isNaN: false, isOver: false };
}

/** Turns a failed step into a lost runtime. Otherwise the engine would fail the rows, as if their values were wrong. */
function losingRunner(runner: ModelRunner): ModelRunner {
  const { isPipelined, maxPrefillRows, maxScoredTokens, maxGuessedTokens, kvCacheLimits } = runner;
  return {
    isPipelined,
    maxPrefillRows,
    maxScoredTokens,
    maxGuessedTokens,
    kvCacheLimits,
    start(step) {
      const { launched, output } = runner.start(step);
      return { launched, output: output.catch(lose) };
    },
    resizeKvCache: (shape) => runner.resizeKvCache(shape),
  };
}

function lose(cause: unknown): never {
  throw new RuntimeLostError(cause);
}
