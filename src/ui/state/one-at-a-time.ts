import type { TabserveStatus } from '../../client/index.ts';
import { readNumber, writeNumber } from '../browser/stored-text.ts';
import type { TracedStep } from './slot-history.ts';

type Step = Pick<TracedStep, 'kind' | 'batchSize' | 'numTokens' | 'stepMs' | 'stepIndex' | 'serialIndex'>;

const KEY = 'tabserve-one-row-ms';
/** Fewer steps tell more about what else the machine did. */
const MIN_STEPS = 8;

/**
 * An estimate: how many times as long these steps take one row at a time. Each step counts as the median of its size, because other
 * work on the machine makes some far longer. What a row costs alone is remembered: where few steps of this run had one row, it is what an
 * earlier run with this model has measured on this device. Undefined where it is unknown, and where the steps are of two workers: the
 * second one reads the texts so far again, and may run elsewhere.
 */
export function timesOneAtATime(
  { model, backend }: Pick<TabserveStatus, 'model' | 'backend'>,
  steps: readonly Step[],
): number | undefined {
  if (numStepsBefore(steps.at(0)) !== numStepsBefore(steps.at(-1))) return undefined;
  const name = `${model?.id} ${backend?.precision} ${backend?.adapter}`;
  const measuredMs = medianOf(steps.filter(isOfOneRow), MIN_STEPS);
  if (measuredMs !== undefined) writeNumber(KEY, name, measuredMs);
  const rowMs = measuredMs ?? readNumber(KEY, name);
  if (rowMs === undefined || steps.length === 0) return undefined;
  let [tookMs, aloneMs] = [0, 0];
  for (const group of Map.groupBy(steps, ({ kind, batchSize }) => `${kind} ${batchSize}`).values()) {
    const groupMs = group.length * (medianOf(group) ?? 0);
    tookMs += groupMs;
    const [{ kind, batchSize } = { kind: 'prefill', batchSize: 0 }] = group;
    // Reading the prompts takes as long either way.
    aloneMs += kind === 'decode' ? group.length * batchSize * rowMs : groupMs;
  }
  return aloneMs / tookMs;
}

/** How many steps the workers before its own had. */
function numStepsBefore(step: Step | undefined): number | undefined {
  return step && step.serialIndex - step.stepIndex;
}

/** A step with guessed tokens has more than one row to compute. */
function isOfOneRow({ kind, batchSize, numTokens }: Step): boolean {
  return kind === 'decode' && batchSize === 1 && numTokens === 1;
}

/** In ms; undefined of fewer steps than these. */
function medianOf(steps: readonly Step[], minSteps = 1): number | undefined {
  const times = steps.map(({ stepMs }) => stepMs).toSorted((a, b) => a - b);
  return times.length < minSteps ? undefined : times[times.length >> 1];
}
