import {
  EMBEDDER,
  type BatchKnobs,
  type BatchRecord,
  type KnobOverride,
  type TabserveClient,
} from '../../../client/index.ts';
import { embedTexts, type Embedded } from './embed-room.ts';
import { Comparison } from '../../panels/trials/run-trials.ts';
import { knobsOfWay, WAYS, type Way } from '../../panels/trials/ways.ts';

/** Lines of a comparison. One by one, more would take minutes. */
const MAX_COMPARED = 500;

export interface EmbedTrial {
  readonly way: Way;
  readonly numTexts: number;
  readonly durationMs: number;
  readonly numBatches: number;
  /** Padding as a share of the size of all batches, 0 to 1. */
  readonly paddingShare: number;
  /** The largest one of any number of a vector, to the first trial. */
  readonly difference: number;
}

type Client = Pick<TabserveClient, 'getHandle' | 'overrideKnobs' | 'status' | 'subscribe'>;

/** Embeds the same lines in several ways, one after the other. */
export function compareWays(client: Client, embedded: Pick<Embedded, 'lines'>, signal: AbortSignal) {
  const lines = embedded.lines.slice(0, MAX_COMPARED);
  const own = client.status().deployments.find(({ name }) => name === EMBEDDER)?.knobs;
  let first: readonly Float32Array[] | undefined;
  const comparison = new Comparison<Way, KnobOverride<BatchKnobs>, EmbedTrial>({
    plans: own ? WAYS : [],
    override: own && (() => client.overrideKnobs(EMBEDDER)),
    signal,
    run: async (way, stop, override): Promise<EmbedTrial> => {
      const batches: BatchRecord[] = [];
      const unsubscribe = client.subscribe('batch', (batch) => {
        if (batch.deployment === EMBEDDER) batches.push(batch);
      });
      try {
        await override?.change(own ? knobsOfWay(way, own) : {});
        stop.throwIfAborted();
        const startedAtMs = performance.now();
        const { vectors } = await embedTexts(client.getHandle(EMBEDDER), lines, {
          signal: stop,
          onProgress: (numDone) => comparison.showProgress(way, numDone),
        });
        const durationMs = performance.now() - startedAtMs;
        first ??= vectors;
        // Answered after the records of all batches have come.
        await override?.change(own ?? {});
        const difference = differenceOf(first, vectors);
        return { way, numTexts: lines.length, durationMs, difference, ...paddingOf(batches) };
      } finally {
        unsubscribe();
      }
    },
  });
  return comparison;
}

/** The number of batches, and their padding. */
export function paddingOf(batches: readonly BatchRecord[]) {
  const numUseful = batches.reduce((sum, { numTokens = 0 }) => sum + numTokens, 0);
  const numComputed = batches.reduce(
    (sum, { measuredSize, numTokens = 0 }) => sum + Math.max(measuredSize, numTokens),
    0,
  );
  return { numBatches: batches.length, paddingShare: numComputed > 0 ? 1 - numUseful / numComputed : 0 };
}

function differenceOf(some: readonly Float32Array[], others: readonly Float32Array[]): number {
  const differences = some.map((vector, row) =>
    vector.reduce((most, value, at) => Math.max(most, Math.abs(value - (others[row]?.[at] ?? NaN))), 0),
  );
  return Math.max(0, ...differences);
}
