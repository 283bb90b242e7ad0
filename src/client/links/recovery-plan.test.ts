import { describe, expect, it } from 'vitest';
import { requestId } from '../../batching/generation/test-support.ts';
import { type BackendChoice, type Rung, LADDERS } from '../../protocol/ladder.ts';
import type { FaultKind } from '../../protocol/recovery.ts';
import { RecoveryPlan, type EndedWorker, type NextMove } from './recovery-plan.ts';

/** One worker's life: where it ran, whether it brought a token, and how it ended. */
interface Life extends Partial<Omit<EndedWorker, 'fault' | 'stalledIds'>> {
  readonly rung?: Rung | undefined;
  readonly hasProgress?: boolean;
  readonly kind?: FaultKind;
  readonly stalled?: readonly string[];
}

function createPlan(choice: BackendChoice = 'auto') {
  const plan = new RecoveryPlan(choice);
  /** Every rung that is not left is there. */
  const nextRung = (): Rung | undefined => {
    const left = plan.past.leftRungs.map(({ rung }) => rung);
    return LADDERS[choice].find((rung) => !left.includes(rung));
  };
  const live = ({
    hasProgress = false,
    kind = 'device-lost',
    stalled = [],
    ...life
  }: Life = {}): NextMove => {
    const rung = 'rung' in life ? life.rung : nextRung();
    if (rung) plan.recordRung(rung);
    if (hasProgress) plan.recordProgress();
    return plan.recordEnd({
      fault: { kind, message: 'gone' },
      stalledIds: stalled.map((name) => requestId(name)),
      isReading: life.isReading ?? false,
      numRunning: life.numRunning ?? stalled.length,
      phase: life.phase ?? 'busy',
    });
  };
  return { plan, live, nextRung };
}

const names = (count: number): string[] => Array.from({ length: count }, (_, index) => `r${index}`);

describe('RecoveryPlan', () => {
  it('stays on its rung, however often that is lost, while there is a token in between', () => {
    const { plan, live } = createPlan();
    for (let loss = 0; loss < 100; loss++) {
      expect(live({ hasProgress: true })).toEqual({ type: 'restart', delayMs: 0 });
    }
    expect(plan.past).toMatchObject({ leftRungs: [], recovery: { attempt: 1 } });
  });

  it('leaves a rung after two failures in a row, and says which and why', () => {
    const { plan, live, nextRung } = createPlan();
    live();
    expect(nextRung()).toBe('webgpu-fp16');
    live();
    expect(nextRung()).toBe('webgpu-fp32');
    expect(plan.past.leftRungs).toEqual([
      { rung: 'webgpu-fp16', reason: 'Gave up on WebGPU in fp16 after 2 failures in a row (gone)' },
    ]);
    for (let failure = 0; failure < 4; failure++) live();
    expect(nextRung()).toBe('wasm');
  });

  it('leaves a rung at once where the GPU has computed wrong values, in the words of the check', () => {
    const { plan, live, nextRung } = createPlan();
    expect(live({ kind: 'wrong-values', phase: 'start' })).toEqual({ type: 'restart', delayMs: 0 });
    expect(nextRung()).toBe('webgpu-fp32');
    expect(plan.past.leftRungs).toEqual([{ rung: 'webgpu-fp16', reason: 'gone' }]);
  });

  it.each([
    ['webgpu', 'webgpu-fp32'],
    ['wasm', 'wasm'],
  ] as const)('keeps to the rungs of %s where it was asked for', (choice, last) => {
    const { live, nextRung } = createPlan(choice);
    for (let failure = 0; failure < 6; failure++) live();
    expect(nextRung()).toBe(last);
  });

  it('waits longer after each failure, up to a bound', () => {
    const { live } = createPlan('wasm');
    const delays = Array.from({ length: 9 }, () => {
      const move = live({ rung: 'wasm' });
      return move.type === 'restart' ? move.delayMs : undefined;
    });
    expect(delays).toEqual([0, 250, 500, 1000, 2000, 4000, 8000, 8000, 8000]);
  });

  it('gives an adapter that is gone time to come back', () => {
    const { live } = createPlan();
    live({ hasProgress: true });
    expect(live({ rung: undefined, kind: 'adapter-gone', phase: 'start' })).toEqual({
      type: 'restart',
      delayMs: 2000,
    });
  });

  it('gives up when nothing starts on the last rung', () => {
    const { live } = createPlan();
    const moves = Array.from({ length: 5 }, () => live({ rung: 'wasm', phase: 'start' }).type);
    expect(moves).toEqual(['restart', 'restart', 'restart', 'restart', 'give-up']);
  });

  it('gives up after three workers that do not come as far as a rung', () => {
    const { live } = createPlan();
    const moves = Array.from({ length: 3 }, () => live({ rung: undefined, phase: 'start' }).type);
    expect(moves).toEqual(['restart', 'restart', 'give-up']);
  });

  it('tries for half a minute where the script of a worker does not come, and gives up then', () => {
    const { live } = createPlan();
    const moves: NextMove[] = [];
    while (moves.at(-1)?.type !== 'give-up') moves.push(live({ rung: undefined, phase: 'fetch' }));
    const delaysMs = moves.map((move) => (move.type === 'restart' ? move.delayMs : 0));
    const wholeMs = delaysMs.reduce((sum, delayMs) => sum + delayMs, 0);
    expect(wholeMs).toBeGreaterThan(30_000);
    expect(wholeMs).toBeLessThan(60_000);
  });

  it('holds no script that did not come against a rung', () => {
    const { plan, live } = createPlan();
    live();
    for (let failure = 0; failure < 5; failure++) live({ rung: undefined, phase: 'fetch' });
    live();
    expect(plan.past.leftRungs).toMatchObject([{ reason: expect.stringContaining('2 failures in a row') }]);
  });

  it('does not hold the loss of an idle device against its rung', () => {
    const { plan, live } = createPlan();
    for (let night = 0; night < 10; night++) live({ phase: 'idle' });
    expect(plan.past.leftRungs).toEqual([]);
  });

  it('halves what may run together where memory ran out, whoever ran', () => {
    const { plan, live } = createPlan();
    live({ kind: 'out-of-memory', hasProgress: true, numRunning: 8 });
    expect(plan.past.maxRows).toBe(4);
    live({ kind: 'out-of-memory', hasProgress: true, numRunning: 4 });
    expect(plan.past.maxRows).toBe(2);
    live({ kind: 'device-lost', hasProgress: true, numRunning: 2 });
    expect(plan.past.maxRows).toBeUndefined();
  });
});

describe('RecoveryPlan, of memory that is too small for one sequence', () => {
  it('leaves the rung, though each worker brings a token', () => {
    const { live, nextRung } = createPlan();
    const life = { kind: 'out-of-memory', hasProgress: true, numRunning: 1 } as const;
    for (let fault = 0; fault < 2; fault++) live(life);
    expect(nextRung()).toBe('webgpu-fp16');
    live(life);
    expect(nextRung()).toBe('webgpu-fp32');
  });
});

describe('RecoveryPlan, of a request that ends every worker', () => {
  it('lets it fail after three deaths alone, while others went on well', () => {
    const { plan, live } = createPlan();
    for (let death = 0; death < 3; death++) {
      expect(plan.past.fatalIds).toEqual([]);
      live({ hasProgress: true, stalled: ['bad'] });
    }
    expect(plan.past).toMatchObject({
      fatalIds: ['bad'],
      leftRungs: [],
      recovery: { hasFatalRequest: true },
    });
    live();
    expect(plan.past.recovery).not.toHaveProperty('hasFatalRequest');
  });

  it('tries every rung before it lets the only request fail, and goes back to the first then', () => {
    const { plan, live, nextRung } = createPlan();
    const rungs: (Rung | undefined)[] = [];
    while (plan.past.fatalIds.length === 0) {
      rungs.push(nextRung());
      live({ stalled: ['bad'] });
    }
    expect(rungs).toEqual([
      'webgpu-fp16',
      'webgpu-fp16',
      'webgpu-fp32',
      'webgpu-fp32',
      'wasm-threads',
      'wasm-threads',
      'wasm',
    ]);
    expect(nextRung()).toBe('webgpu-fp16');
  });

  it('finds it among eight that run together, and fails no other', () => {
    const { plan, live } = createPlan('wasm');
    const waiting = names(8);
    let numDeaths = 0;
    while (plan.past.fatalIds.length === 0) {
      // Each worker runs as many of the waiting requests as it may, in order, until it reaches the bad one.
      const size = plan.past.maxRows ?? 8;
      const batches = Math.floor(waiting.indexOf('r5') / size);
      live({
        rung: 'wasm',
        stalled: waiting.slice(batches * size, (batches + 1) * size),
        hasProgress: batches > 0,
      });
      numDeaths += 1;
    }
    expect(plan.past.fatalIds).toEqual(['r5']);
    expect(numDeaths).toBeLessThanOrEqual(8);
  });

  it('lets one fail after two deaths while its prompt was read, which no rung can help', () => {
    const { plan, live, nextRung } = createPlan();
    live();
    live();
    const [left] = plan.past.leftRungs;
    live({ stalled: ['endless'], isReading: true });
    expect(plan.past.fatalIds).toEqual([]);
    live({ stalled: ['endless'], isReading: true });
    expect(plan.past).toMatchObject({ fatalIds: ['endless'], leftRungs: [left] });
    expect(nextRung()).toBe('webgpu-fp32');
  });

  it('forgets the deaths of a request that has come further since', () => {
    const { plan, live } = createPlan('wasm');
    for (let round = 0; round < 5; round++) {
      live({ rung: 'wasm', hasProgress: true, stalled: ['slow'] });
      live({ rung: 'wasm', hasProgress: true, stalled: [] });
    }
    expect(plan.past.fatalIds).toEqual([]);
  });
});
