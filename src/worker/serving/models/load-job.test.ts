import { describe, expect, it, vi } from 'vitest';
import { FakeClock } from '../../../batching/testing/fake-clock.ts';
import { LoadJob, createProgressMeter, LoadFraction } from './load-job.ts';
import type { ModelLoad } from '../../../protocol/models.ts';

function createJob() {
  const clock = new FakeClock();
  const reports: ModelLoad[] = [];
  const job = new LoadJob('name', 'a/b', clock, (load) => reports.push(load));
  const signals: AbortSignal[] = [];
  /** Ends when it is aborted, with the reason, or when the test ends it. */
  const ends: PromiseWithResolvers<string>[] = [];
  const outcome = job.attempt((signal) => {
    const end = Promise.withResolvers<string>();
    signal.addEventListener('abort', () => end.reject(signal.reason));
    signals.push(signal);
    ends.push(end);
    return end.promise;
  });
  outcome.catch(() => {});
  return { clock, reports, job, signals, ends, outcome };
}

async function settle(): Promise<void> {
  for (let i = 0; i < 10; i++) await Promise.resolve();
}

describe('LoadJob', () => {
  it('tells of each phase at once, and of what happens in it every 100 ms, the last of it too', () => {
    const { clock, reports, job } = createJob();
    for (let loaded = 0; loaded < 5; loaded++) job.report({ phase: 'download', loaded, total: 9 });
    expect(reports.map(({ phase, loaded }) => `${phase} ${loaded}`)).toEqual(['resolve 0', 'download 0']);
    clock.advance(100);
    expect(reports.at(-1)).toMatchObject({ phase: 'download', loaded: 4 });
    clock.advance(1000);
    expect(reports).toHaveLength(3);
  });

  it('tells speed and seconds left of a download, and the seconds of a phase that blocks the worker', () => {
    const { clock, reports, job } = createJob();
    job.report({ phase: 'download', loaded: 1000, total: 9000 });
    clock.advance(1000);
    job.report({ phase: 'download', loaded: 3000, total: 9000 });
    expect(reports.at(-1)).toMatchObject({ bytesPerSecond: 2000, secondsLeft: 3 });
    job.report({ phase: 'prepare', loaded: 0, total: 100 });
    expect(reports.at(-1)).not.toHaveProperty('secondsLeft');
    // No timer fires.
    vi.spyOn(clock, 'now').mockReturnValue(1500);
    job.report({ phase: 'prepare', loaded: 20, total: 100 });
    expect(reports.at(-1)).toEqual({
      id: 'a/b',
      isPaused: false,
      phase: 'prepare',
      loaded: 20,
      total: 100,
      fraction: expect.any(Number),
      secondsLeft: 2,
    });
  });

  it('waits while it is paused, and then runs again', async () => {
    const { clock, reports, job, signals, ends, outcome } = createJob();
    await settle();
    job.report({ phase: 'download', loaded: 0, total: 2 });
    clock.advance(1000);
    job.report({ phase: 'download', loaded: 1, total: 2 });
    expect(reports.at(-1)).toMatchObject({ bytesPerSecond: 1 });
    job.pause();
    await settle();
    expect(signals).toHaveLength(1);
    expect(signals[0]?.aborted).toBe(true);
    expect(reports.at(-1)).toMatchObject({ isPaused: true, phase: 'download', loaded: 1, total: 2 });
    job.resume();
    await settle();
    expect(signals).toHaveLength(2);
    expect(reports.at(-1)).toMatchObject({ isPaused: false });
    ends[1]?.resolve('done');
    await expect(outcome).resolves.toBe('done');
  });

  it.each([false, true])(
    'ends with LOAD_CANCELLED once it is cancelled (paused before: %s)',
    async (isPaused) => {
      const { job, outcome, signals } = createJob();
      await settle();
      if (isPaused) job.pause();
      await settle();
      job.cancel('c/d was asked for instead');
      await expect(outcome).rejects.toMatchObject({ code: 'LOAD_CANCELLED' });
      await expect(outcome).rejects.toThrow('c/d was asked for instead');
      expect(signals).toHaveLength(1);
    },
  );

  it('tells nothing once it is cancelled, though a part of it goes on behind the next load', () => {
    const { clock, reports, job } = createJob();
    job.report({ phase: 'prepare', loaded: 1, total: 9 });
    job.report({ phase: 'prepare', loaded: 2, total: 9 });
    job.cancel('c/d is loaded instead');
    const { length } = reports;
    job.report({ phase: 'compile', loaded: 0, total: 9 });
    clock.advance(1000);
    expect(reports).toHaveLength(length);
  });

  it('can still be paused and cancelled after it was resumed without having been paused', async () => {
    const { job, outcome, signals } = createJob();
    await settle();
    job.resume();
    job.pause();
    await settle();
    expect(signals[0]?.aborted).toBe(true);
    job.resume();
    await settle();
    job.resume();
    job.cancel('it was asked for');
    await expect(outcome).rejects.toMatchObject({ code: 'LOAD_CANCELLED' });
    expect(signals).toHaveLength(2);
    expect(job.isCancelled).toBe(true);
  });

  it('fails with what its run fails with', async () => {
    const { ends, outcome } = createJob();
    await settle();
    ends[0]?.reject(new Error('no such model'));
    await expect(outcome).rejects.toThrow('no such model');
  });

  it('tells nothing after its end, and leaves no timer', () => {
    const { clock, reports, job } = createJob();
    job.report({ phase: 'convert', loaded: 1, total: 2 });
    job.report({ phase: 'convert', loaded: 2, total: 2 });
    job.end();
    expect(clock.pendingTimers).toBe(0);
    job.report({ phase: 'drain', loaded: 0, total: 1 });
    expect(reports.at(-1)).toMatchObject({ phase: 'convert', loaded: 1 });
  });
});

function createMeter() {
  const clock = new FakeClock();
  let loaded = 500;
  const meter = createProgressMeter(clock, loaded);
  /** So many bytes every 100 ms. */
  const receive = (bytes: number, ms: number): void => {
    for (let passed = 0; passed < ms; passed += 100) {
      clock.advance(100);
      loaded += bytes;
      meter.record(loaded);
    }
  };
  return { clock, meter, receive };
}

describe('a progress meter', () => {
  it('knows no speed before a quarter of a second has passed', () => {
    const { meter, receive } = createMeter();
    receive(1000, 200);
    expect(meter.perSecond()).toBe(0);
  });

  it('leaves out what was there at the beginning', () => {
    const { meter, receive } = createMeter();
    receive(100, 2000);
    expect(meter.perSecond()).toBe(1000);
  });

  it('follows a change of speed within its window', () => {
    const { meter, receive } = createMeter();
    receive(100, 60_000);
    receive(900, 5200);
    expect(meter.perSecond()).toBe(9000);
  });

  it('comes to rest when nothing comes', () => {
    const { clock, meter, receive } = createMeter();
    receive(100, 2000);
    clock.advance(5001);
    expect(meter.perSecond()).toBe(0);
  });
});

it('one bar grows over all phases of a download, also when one begins again', () => {
  const fraction = new LoadFraction();
  const seen = [
    fraction.at({ phase: 'resolve', loaded: 2, total: 0 }),
    fraction.at({ phase: 'download', loaded: 50, total: 100 }),
    fraction.at({ phase: 'download', loaded: 20, total: 100 }),
    fraction.at({ phase: 'download', loaded: 100, total: 100 }),
    fraction.at({ phase: 'prepare', loaded: 0, total: 7 }),
    fraction.at({ phase: 'compile', loaded: 2, total: 2 }),
    fraction.at({ phase: 'drain', loaded: 1, total: 1 }),
  ];
  expect(seen).toEqual([0, 0.425, 0.425, 0.85, 0.85, 0.99, 1]);
});

it('a model that is stored has the bar to itself', () => {
  const fraction = new LoadFraction();
  expect(fraction.at({ phase: 'prepare', loaded: 5, total: 10 })).toBeCloseTo(0.475);
});

it('a load that has succeeded is done, whatever phases it had', () => {
  const fraction = new LoadFraction();
  fraction.at({ phase: 'prepare', loaded: 5, total: 10 });
  expect([fraction.end(), fraction.at({ phase: 'compile', loaded: 0, total: 2 })]).toEqual([1, 1]);
});
