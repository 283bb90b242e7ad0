import { createStore } from 'zustand/vanilla';

import {
  EMBEDDER,
  type BatchKnobs,
  type BatchRecord,
  type KnobOverride,
  type TabserveClient,
  type WireError,
} from '../../../client/index.ts';
import { toWireError } from '../../parts/to-wire-error.ts';
import type { Embedded } from './embed-room.ts';
import { embedTexts } from './embed-texts.ts';
import type { Vectors } from './vectors.ts';
import { knobsOfWay, WAYS, type Way } from '../../panels/trials/ways.ts';

/** Lines of a comparison. One by one, more would take minutes. */
const MAX_COMPARED = 500;

export interface EmbedTrial {
  readonly way: Way;
  readonly numTexts: number;
  readonly durationMs: number;
  readonly numBatches: number;
  /** Of the padded size of all batches, 0 to 1. */
  readonly paddingShare: number;
}

export interface ComparisonView {
  readonly isRunning: boolean;
  readonly progress: { readonly way: Way; readonly numDone: number } | undefined;
  readonly trials: readonly EmbedTrial[];
  /** The largest difference of any number of a vector between two trials. */
  readonly difference: number;
  readonly error: WireError | undefined;
}

type Client = Pick<TabserveClient, 'getHandle' | 'overrideKnobs' | 'status' | 'subscribe'>;

/** Embeds the same lines in several ways, one after the other. The knobs are as before afterwards, also where this tab ends. */
export class EmbedComparison {
  readonly store = createStore<ComparisonView>(() => ({
    isRunning: true,
    progress: undefined,
    trials: [],
    difference: 0,
    error: undefined,
  }));
  readonly #client: Client;
  readonly #lines: readonly string[];
  readonly #signal: AbortSignal;

  constructor(client: Client, { lines }: Pick<Embedded, 'lines'>, signal: AbortSignal) {
    this.#client = client;
    this.#lines = lines.slice(0, MAX_COMPARED);
    this.#signal = signal;
  }

  async start(): Promise<void> {
    try {
      await this.#compare();
    } catch (caught) {
      if (!this.#signal.aborted) this.store.setState({ error: toWireError(caught) });
    } finally {
      this.store.setState({ isRunning: false, progress: undefined });
    }
  }

  async #compare(): Promise<void> {
    const own = this.#client.status().deployments.find(({ name }) => name === EMBEDDER)?.knobs;
    if (!own) return;
    const override = await this.#client.overrideKnobs(EMBEDDER);
    try {
      let first: Vectors | undefined;
      for (const way of WAYS) {
        const { trial, vectors, batches } = await this.#try(way, own, override);
        first ??= vectors;
        this.store.setState(({ trials, difference }) => ({
          trials: [...trials, { ...trial, ...paddingOf(batches) }],
          difference: Math.max(difference, differenceOf(first ?? vectors, vectors)),
        }));
      }
    } finally {
      await override.release();
    }
  }

  async #try(way: Way, own: BatchKnobs, override: KnobOverride<BatchKnobs>) {
    const signal = AbortSignal.any([this.#signal, override.signal]);
    const batches: BatchRecord[] = [];
    const unsubscribe = this.#client.subscribe('batch', (batch) => {
      if (batch.deployment === EMBEDDER) batches.push(batch);
    });
    try {
      await override.change(knobsOfWay(way, own));
      signal.throwIfAborted();
      const startedAtMs = performance.now();
      const vectors = await embedTexts(this.#client.getHandle(EMBEDDER), this.#lines, {
        signal,
        onProgress: (numDone) => this.store.setState({ progress: { way, numDone } }),
      });
      const durationMs = performance.now() - startedAtMs;
      return { vectors, batches, trial: { way, numTexts: this.#lines.length, durationMs } };
    } finally {
      // Answered after the records of all batches have come.
      await override.change(own).finally(unsubscribe);
    }
  }
}

/** What batches took together. */
export function paddingOf(batches: readonly BatchRecord[]) {
  const numUseful = batches.reduce((sum, { numTokens = 0 }) => sum + numTokens, 0);
  const numComputed = batches.reduce(
    (sum, { measuredSize, numTokens = 0 }) => sum + Math.max(measuredSize, numTokens),
    0,
  );
  return { numBatches: batches.length, paddingShare: numComputed > 0 ? 1 - numUseful / numComputed : 0 };
}

function differenceOf(one: Vectors, other: Vectors): number {
  return one.values.reduce(
    (most, value, at) => Math.max(most, Math.abs(value - (other.values[at] ?? NaN))),
    0,
  );
}
