import { describe, expect, it } from 'vitest';

import type { ClientUpdate, RequestActivity, RequestId } from '../../client/index.ts';
import { createBar, idOf, OTHER_TAB } from '../testing/test-support.ts';
import { updateTables, type RequestsEvent, type RequestTables } from './request-view.ts';
import {
  firstOwnId,
  isOtherRun,
  latestRun,
  updateRuns,
  type Experiment,
  type Runs,
  type RunsInput,
} from './run.ts';

const EMPTY: RequestTables = { requests: new Map(), answers: new Map(), numSubmitted: new Map() };

function submitted(name: string): ClientUpdate {
  return { type: 'submitted', requestId: idOf(name), deployment: 'text-generator', input: name };
}

function cancelled(name: string): ClientUpdate {
  const error = { code: 'REQUEST_CANCELLED', message: 'why' };
  return { type: 'failed', requestId: idOf(name), error };
}

function ofOtherTab(name: string, state: RequestActivity['state']): RequestsEvent {
  const requests: RequestActivity[] = [
    {
      requestId: idOf(name),
      clientId: OTHER_TAB,
      tab: 2,
      deployment: 'text-generator',
      inputPreview: name,
      state,
      numOutputTokens: 0,
    },
  ];
  return { type: 'activity', activity: { isSnapshot: false, requests } };
}

/** Plays frames of events, each at its time, and returns the runs after the last one. */
class Page {
  runs: Runs = {};
  tables = EMPTY;
  modelId = 'storyteller';
  readonly experiments = new Map<RequestId, Experiment>();

  at(nowMs: number, ...updates: readonly ClientUpdate[]): Runs {
    return this.receive(nowMs, [{ type: 'requests', updates, receivedAtMs: nowMs }]);
  }

  receive(nowMs: number, events: readonly RequestsEvent[], bars: RunsInput['bars'] = []): Runs {
    const [before, after] = [this.tables, updateTables(this.tables, events, this.experiments)];
    this.tables = after;
    const { experiments, modelId } = this;
    this.runs = updateRuns(this.runs, { events, bars, modelId, before, after, experiments, nowMs });
    return this.runs;
  }
}

describe('a run', () => {
  it('has a request once, however many messages of one frame name it', () => {
    const page = new Page();
    page.receive(100, [
      { type: 'requests', updates: [submitted('own')], receivedAtMs: 90 },
      ofOtherTab('other', 'waiting'),
      ofOtherTab('own', 'waiting'),
      ofOtherTab('other', 'running'),
    ]);
    expect(page.runs.prompts?.requestIds).toEqual(['own', 'other']);
  });

  it('begins with the first request after a pause and ends with the last one', () => {
    const page = new Page();
    page.at(100, submitted('a'), submitted('b'));
    expect(page.runs.prompts).toMatchObject({ startedAtMs: 100, requestIds: ['a', 'b'] });
    expect(page.at(150, cancelled('a')).prompts?.endedAtMs).toBeUndefined();
    expect(page.at(190, cancelled('b')).prompts?.endedAtMs).toBe(190);
  });

  it('is another one to its drawings when it begins or ends, but not when a request joins it', () => {
    const page = new Page();
    const isOtherAt = (nowMs: number, update: ClientUpdate): boolean => {
      const before = page.runs;
      return isOtherRun({ runs: page.at(nowMs, update) }, { runs: before });
    };
    expect(isOtherAt(100, submitted('a'))).toBe(true);
    expect(isOtherAt(150, submitted('b'))).toBe(false);
    expect(isOtherAt(180, cancelled('a'))).toBe(false);
    expect(isOtherAt(190, cancelled('b'))).toBe(true);
  });

  it('keeps the newest of many requests, begins with them, and knows that they are a part', () => {
    const page = new Page();
    const names = Array.from({ length: 500 }, (_, index) => String(index));
    page.at(0, ...names.map(submitted));
    const bars = [...names, 'last'].map((name, index) =>
      createBar({ requestId: idOf(name), startedAtMs: index, queueWaitMs: 0 }),
    );
    const events = [{ type: 'requests', updates: [submitted('last')], receivedAtMs: 2000 }] as const;
    const { prompts } = page.receive(2000, events, bars);
    expect(prompts?.requestIds).toEqual([...names.slice(-249), 'last']);
    expect(prompts).toMatchObject({ startedAtMs: 251, isPart: true });
  });

  it('takes in what is submitted while it lasts, or right after it', () => {
    const page = new Page();
    page.at(0, submitted('a'));
    page.at(100, submitted('b'), cancelled('a'), cancelled('b'));
    page.at(1100, submitted('c'));
    expect(page.runs.prompts).toMatchObject({ startedAtMs: 0, requestIds: ['a', 'b', 'c'] });
    expect(page.runs.prompts?.endedAtMs).toBeUndefined();
  });

  it('is another one after a longer pause, and after one that is closed', () => {
    const page = new Page();
    page.at(0, submitted('a'), cancelled('a'));
    page.at(1001, submitted('b'), cancelled('b'));
    expect(page.runs.prompts).toMatchObject({ startedAtMs: 1001, requestIds: ['b'] });
    page.runs = { prompts: page.runs.prompts && { ...page.runs.prompts, isClosed: true } };
    page.at(1002, submitted('c'));
    expect(page.runs.prompts).toMatchObject({ startedAtMs: 1002, requestIds: ['c'] });
  });

  it('is another one where another tab begins it, which has a run of its own', () => {
    const page = new Page();
    page.at(0, submitted('a'), cancelled('a'));
    page.receive(500, [ofOtherTab('x', 'running')]);
    expect(page.runs.prompts?.requestIds).toEqual(['x']);
    page.receive(600, [ofOtherTab('x', 'finished')]);
    page.receive(800, [ofOtherTab('y', 'running')]);
    expect(page.runs.prompts?.requestIds).toEqual(['x', 'y']);
  });

  it('of this tab is known while those of others come after it, until this tab sends again', () => {
    const page = new Page();
    page.at(0, submitted('a'));
    page.modelId = 'another';
    page.receive(100, [ofOtherTab('x', 'running')]);
    expect(page.runs.prompts?.requestIds).toEqual(['x']);
    expect(page.runs.own).toMatchObject({ requestIds: ['a'] });
    expect(page.runs.own?.endedAtMs).toBeUndefined();
    page.at(200, cancelled('a'));
    expect(page.runs.own, 'its end').toMatchObject({ requestIds: ['a'], endedAtMs: 200 });
    page.at(300, submitted('b'));
    expect(page.runs.own?.requestIds).toEqual(['x', 'b']);
    expect(firstOwnId(page.runs.own), 'whoever began it').toBe('b');
    page.experiments.set(idOf('t'), 'trial');
    page.at(2000, submitted('t'));
    expect(firstOwnId(page.runs.own), 'a trial is no prompt').toBe('b');
  });

  it('knows who sent the requests of other tabs, also when their rows are gone', () => {
    const page = new Page();
    page.at(0, submitted('own'));
    page.receive(10, [ofOtherTab('x', 'running')]);
    expect(page.runs.prompts?.senders).toEqual(new Map([['x', 2]]));
  });

  it('includes requests of other tabs, from the time when they came', () => {
    const page = new Page();
    page.receive(1000, [ofOtherTab('x', 'running')]);
    expect(page.runs.prompts?.startedAtMs).toBe(1000);
    const bar = createBar({ requestId: idOf('x'), startedAtMs: 200, queueWaitMs: 50 });
    page.receive(1100, [], [bar]);
    expect(page.runs.prompts?.startedAtMs).toBe(150);
    expect(page.receive(1200, [ofOtherTab('x', 'finished')], [bar]).prompts?.endedAtMs).toBeUndefined();
    expect(page.receive(1250, [], [{ ...bar, endedAtMs: 1150 }]).prompts?.endedAtMs).toBe(1150);
  });

  it('is measured by the worker: from the first arrival to the last step, not by when the page heard of them', () => {
    const page = new Page();
    page.at(100, submitted('a'), submitted('b'));
    const [a, b] = ['a', 'b'].map((name, slot) =>
      createBar({
        requestId: idOf(name),
        slot,
        startedAtMs: 130 + slot * 20,
        queueWaitMs: 20,
        endedAtMs: 400 + slot,
      }),
    );
    const bars = a && b ? [a, b] : [];
    page.receive(
      900,
      [{ type: 'requests', updates: [cancelled('a'), cancelled('b')], receivedAtMs: 850 }],
      bars,
    );
    expect(page.runs.prompts).toMatchObject({ startedAtMs: 110, endedAtMs: 401 });
  });

  it('is of one model', () => {
    const page = new Page();
    page.at(0, submitted('a'));
    page.modelId = 'another';
    expect(page.at(10, submitted('b')).prompts?.requestIds).toEqual(['b']);
  });

  it('of a load test is kept apart, and the charts show the one that began last', () => {
    const page = new Page();
    page.at(0, submitted('a'), cancelled('a'));
    page.experiments.set(idOf('t'), 'trial');
    page.at(5000, submitted('t'));
    expect(page.runs.prompts?.requestIds).toEqual(['a']);
    expect(latestRun(page.runs)).toMatchObject({ startedAtMs: 5000, experiment: 'trial' });
    page.at(6000, submitted('b'));
    expect(latestRun(page.runs)).toMatchObject({ startedAtMs: 6000, experiment: undefined });
  });

  it('ends although its rows were cleared', () => {
    const page = new Page();
    page.at(0, submitted('a'));
    page.tables = EMPTY;
    expect(page.at(50).prompts?.endedAtMs).toBe(50);
  });
});
