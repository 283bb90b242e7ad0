import type { PrecisionPlan, StoredModel, SuggestedModel, TabserveStatus } from '../../../client/index.ts';
import { formatBytes } from '../../parts/format.ts';
import { EMBEDDED } from '../models/embedded-model.ts';

/** A model that can be compared. */
export interface ModelChoice {
  readonly id: string;
  readonly revision?: string | undefined;
  /** The precision to begin with. */
  readonly dtype: PrecisionPlan['dtype'];
  /** Only as it is loaded now: the page can't fetch its files again. */
  readonly isFixed?: boolean;
}

/** A model as it is compared: its `dtype` is the chosen one. */
export interface ModelSide extends ModelChoice {
  /** Undefined where it can't be planned. */
  readonly memoryBytes?: number | undefined;
}

type Served = Pick<TabserveStatus, 'model' | 'backend' | 'encoders'>;

/** The model that serves, the embedded one, those on this device and the suggested ones that fit. */
export function modelChoices(
  { model, backend, encoders = [] }: Served,
  stored: readonly StoredModel[],
  suggested: readonly SuggestedModel[],
): readonly ModelChoice[] {
  const others: readonly ModelChoice[] = [
    { id: EMBEDDED, dtype: 'fp32' },
    ...stored.flatMap(({ id, revision, dtype }) =>
      dtype && revision !== '' ? [{ id, revision, dtype }] : [],
    ),
    ...suggested.flatMap(({ id, dtype, deployment, obstacle }) =>
      deployment === undefined && obstacle === '' ? [{ id, dtype }] : [],
    ),
  ];
  const noTexts = new Set([
    ...encoders.map(({ id }) => id),
    ...suggested.flatMap(({ id, deployment }) => (deployment === undefined ? [] : [id])),
  ]);
  const byId = new Map<string, ModelChoice>();
  if (model && backend && backend.precision !== 'unknown') {
    const again = others.find(({ id }) => id === model.id);
    byId.set(model.id, { isFixed: !again, ...again, id: model.id, dtype: backend.precision });
  }
  for (const choice of others)
    if (!noTexts.has(choice.id) && !byId.has(choice.id)) byId.set(choice.id, choice);
  return [...byId.values()];
}

/** The model that serves, and the same one in 8 bits, or in 32 where it has 8. */
export function firstSides(choices: readonly ModelChoice[]): readonly ModelChoice[] {
  const [served] = choices;
  const other = served?.isFixed ? choices[1] : served;
  if (!served || !other) return [];
  return [served, served === other ? { ...other, dtype: served.dtype === 'q8' ? 'fp32' : 'q8' } : other];
}

/** `storyteller, q8` */
export function nameOfSide({ id, dtype }: Pick<ModelSide, 'id' | 'dtype'>): string {
  return `${id}, ${dtype}`;
}

/** `It takes 12 MB of memory.` */
export function describePlan({ memoryBytes, isStored }: PrecisionPlan): string {
  const fetched = isStored ? '' : ' It is downloaded first.';
  return `It takes ${formatBytes(memoryBytes)} of memory with one text of full length.${fetched}`;
}
