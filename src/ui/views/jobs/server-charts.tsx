import { useEffect, useMemo, useState } from 'react';
import { MainCharts } from '../../panels/watch/main-charts.tsx';
import { ServeContext, useServe } from '../../state/serve-context.ts';
import { createStore } from 'zustand/vanilla';
import type { RequestId } from '../../../client/index.ts';
import type { RequestView } from '../../state/request-view.ts';
import type { Run } from '../../state/run.ts';
import type { ServeStore } from '../../state/serve-store.ts';

/** Tokens/s and latency of the rows that are at a server. */
export function ServerCharts() {
  const context = useServe();
  const [run] = useState(() => new ServerRun(context.store));
  useEffect(() => run.follow(), [run]);
  const ofRun = useMemo(() => ({ ...context, store: run.store }), [context, run]);
  return (
    <ServeContext value={ofRun}>
      <MainCharts emptyText="Run a job to see its tokens/s and latency." />
    </ServeContext>
  );
}

/** Work that begins again this soon belongs to the same run, ms. */
const MAX_PAUSE_MS = 1000;
/** Stands for all rows that run. */
const ROWS: RequestView = {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- no other request has this name
  id: 'rows' as RequestId,
  status: 'running',
  prompt: '',
  generatedTexts: [''],
  numOutputTokens: 0,
};
const REQUESTS = new Map([[ROWS.id, ROWS]]);

/** Rows of a job at a server are no requests of this tab: only its stats tell of them. The time in which they tell of work is the run. */
export class ServerRun {
  /** The page's, with this run alone. */
  readonly store: ServeStore;
  readonly #page: ServeStore;
  #run: Run | undefined;

  constructor(page: ServeStore) {
    this.#page = page;
    this.store = { ...page, ...createStore(() => page.getState()) };
    this.#update();
  }

  /** @returns A function that ends it. */
  follow(): () => void {
    this.#update();
    return this.#page.subscribe(() => this.#update());
  }

  #update(): void {
    const view = this.#page.getState();
    const atMs = this.#page.history.samples.at(-1)?.atMs;
    if (view.figures && atMs !== undefined)
      this.#run = nextRun(this.#run, view.figures.numRunning + view.figures.numWaiting > 0, atMs);
    this.store.setState({ ...view, requests: REQUESTS, runs: { prompts: this.#run } });
  }
}

function nextRun(run: Run | undefined, isBusy: boolean, atMs: number): Run | undefined {
  if (!isBusy) return run && { ...run, endedAtMs: run.endedAtMs ?? atMs };
  const isSame = run && atMs - (run.endedAtMs ?? atMs) <= MAX_PAUSE_MS;
  return isSame ? { ...run, endedAtMs: undefined } : { startedAtMs: atMs, requestIds: [ROWS.id] };
}
