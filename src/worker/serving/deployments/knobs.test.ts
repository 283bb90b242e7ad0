import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { DEFAULT_POLICY, type BatchingPolicy } from '../../../batching/generation/policy.ts';
import { updatePolicy } from '../../../batching/generation/update-policy.ts';
import { clientId } from '../../../batching/generation/test-support.ts';
import { TEXT_GENERATOR } from '../../../protocol/generation.ts';
import type { BatchKnobs } from '../../../protocol/status.ts';
import { Knobs } from './knobs.ts';
import { overrideId } from '../../test-support.ts';
import { runsOf } from '../../../batching/testing/whole-run.ts';

/** A generator that always has the policy of its last `configure`. */
function createGenerator() {
  return {
    knobs: DEFAULT_POLICY,
    configure(knobs: unknown): BatchingPolicy {
      this.knobs = updatePolicy(this.knobs, knobs);
      return this.knobs;
    },
    changed: updatePolicy,
  };
}

function refuse(name: string): never {
  throw new Error(`no ${name}`);
}

/** The knobs of a text generator alone. */
function knobsOf(textGenerator: ReturnType<typeof createGenerator>): Knobs {
  const named = (name: string) => (name === TEXT_GENERATOR ? textGenerator : refuse(name));
  return new Knobs({ textGenerator, named, batchedInfos: [] }, () => {});
}

const [A, B] = [clientId('a'), clientId('b')];
const [FIRST, SECOND] = [overrideId('first'), overrideId('second')];

describe('an override', () => {
  it('hides the users’ policy, and takes over the knobs that it does not name', () => {
    const generator = createGenerator();
    const knobs = knobsOf(generator);
    knobs.configure(TEXT_GENERATOR, { maxBatchSize: 3 });
    expect(
      knobs.setOverride(A, { overrideId: FIRST, deployment: TEXT_GENERATOR, knobs: { policy: 'off' } }),
    ).toMatchObject({ policy: 'off', maxBatchSize: 3 });
    expect(
      knobs.setOverride(A, { overrideId: FIRST, deployment: TEXT_GENERATOR, knobs: { maxBatchSize: 9 } }),
    ).toMatchObject({
      policy: 'off',
      maxBatchSize: 9,
    });
    expect(generator.knobs).toEqual(knobs.shown.override?.knobs);
    expect(knobs.shown.knobs.policy).toEqual({ ...DEFAULT_POLICY, maxBatchSize: 3 });
    knobs.releaseOverride(FIRST);
    expect(generator.knobs).toEqual({ ...DEFAULT_POLICY, maxBatchSize: 3 });
  });

  it('keeps what the users change meanwhile until it ends', () => {
    const generator = createGenerator();
    const knobs = knobsOf(generator);
    knobs.setOverride(A, { overrideId: FIRST, deployment: TEXT_GENERATOR, knobs: { policy: 'off' } });
    expect(knobs.configure(TEXT_GENERATOR, { policy: 'static' })).toMatchObject({ policy: 'static' });
    expect(generator.knobs.policy).toBe('off');
    knobs.forget(A);
    expect(generator.knobs.policy).toBe('static');
  });

  it('is refused while another one is held, and then changes nothing', () => {
    const generator = createGenerator();
    const knobs = knobsOf(generator);
    knobs.setOverride(A, { overrideId: FIRST, deployment: TEXT_GENERATOR, knobs: { policy: 'off' } });
    expect(() =>
      knobs.setOverride(B, { overrideId: SECOND, deployment: TEXT_GENERATOR, knobs: { policy: 'static' } }),
    ).toThrow(expect.objectContaining({ code: 'OVERRIDE_HELD' }));
    expect(generator.knobs.policy).toBe('off');
  });

  it('is not begun with a bad knob', () => {
    const knobs = knobsOf(createGenerator());
    expect(() =>
      knobs.setOverride(A, { overrideId: FIRST, deployment: TEXT_GENERATOR, knobs: { maxBatchSize: 0 } }),
    ).toThrow(/maxBatchSize/);
    expect(knobs.shown.override).toBeUndefined();
  });

  it('is ended by its own id, or the end of its own client, alone', () => {
    const knobs = knobsOf(createGenerator());
    knobs.setOverride(A, { overrideId: FIRST, deployment: TEXT_GENERATOR, knobs: { policy: 'off' } });
    knobs.releaseOverride(SECOND);
    knobs.forget(B);
    expect(knobs.shown.override?.overrideId).toBe(FIRST);
    knobs.forget(A);
    expect(knobs.shown.override).toBeUndefined();
  });
});

function begin(knobs: Knobs) {
  return knobs.setOverride(A, { overrideId: FIRST, deployment: 'adder', knobs: { maxBatchSize: 1 } });
}

describe('an override of another deployment', () => {
  const OWN: BatchKnobs = { maxBatchSize: 64, batchWaitTimeoutMs: 0, maxConcurrentBatches: 1 };

  /** The knobs of a text generator and an adder. */
  function createBoth() {
    const adder = {
      knobs: OWN,
      configure(knobs: unknown): BatchKnobs {
        this.knobs = this.changed(this.knobs, knobs);
        return this.knobs;
      },
      changed: (own: BatchKnobs, knobs: unknown) => ({ ...own, ...Object(knobs) }),
    };
    const textGenerator = createGenerator();
    const knobs = new Knobs(
      {
        textGenerator,
        named: (name) => (name === TEXT_GENERATOR ? textGenerator : adder),
        get batchedInfos() {
          return [{ name: 'adder', knobs: adder.knobs }];
        },
      },
      () => {},
    );
    return { adder, knobs };
  }

  it('hides the users’ own knobs, which are in force again when its client is gone', () => {
    const { adder, knobs } = createBoth();
    expect(begin(knobs)).toEqual({ ...OWN, maxBatchSize: 1 });
    expect(knobs.shown).toMatchObject({
      knobs: { policy: DEFAULT_POLICY, deployments: [{ name: 'adder', knobs: OWN }] },
      override: { overrideId: FIRST, deployment: 'adder', knobs: { maxBatchSize: 1 } },
    });
    knobs.forget(A);
    expect(adder.knobs).toEqual(OWN);
    expect(knobs.shown).not.toHaveProperty('override');
  });

  it('keeps what the users change meanwhile, of this deployment and of others', () => {
    const { adder, knobs } = createBoth();
    begin(knobs);
    expect(knobs.configure('adder', { maxBatchSize: 9 })).toEqual({ ...OWN, maxBatchSize: 9 });
    knobs.configure(TEXT_GENERATOR, { policy: 'static' });
    expect(adder.knobs.maxBatchSize).toBe(1);
    expect(knobs.shown.knobs.policy.policy).toBe('static');
    knobs.releaseOverride(FIRST);
    expect(adder.knobs.maxBatchSize).toBe(9);
  });

  it('goes on at the next worker, over the users’ own knobs that a tab brings', () => {
    const before = createBoth();
    before.knobs.configure('adder', { maxBatchSize: 9 });
    begin(before.knobs);
    const { override, knobs: settings } = before.knobs.shown;
    const { adder, knobs } = createBoth();
    if (override) knobs.adoptOverride(A, override);
    knobs.adopt(settings);
    expect(adder.knobs.maxBatchSize).toBe(1);
    knobs.forget(A);
    expect(adder.knobs.maxBatchSize).toBe(9);
  });

  it('is the only one, whatever deployment another one is for', () => {
    const { knobs } = createBoth();
    begin(knobs);
    for (const [client, id] of [
      [A, FIRST],
      [B, SECOND],
    ] as const)
      expect(() =>
        knobs.setOverride(client, { overrideId: id, deployment: TEXT_GENERATOR, knobs: {} }),
      ).toThrow(expect.objectContaining({ code: 'OVERRIDE_HELD' }));
  });
});

type Action =
  | { readonly type: 'configure'; readonly knobs: object }
  | { readonly type: 'override'; readonly owner: number; readonly knobs: object }
  | { readonly type: 'release' | 'leave'; readonly owner: number };

const owner = fc.nat(2);
const someKnobs = fc.record(
  { maxBatchSize: fc.integer({ min: -1, max: 70 }), policy: fc.constantFrom('off', 'static', 'continuous') },
  { requiredKeys: [] },
);
const action: fc.Arbitrary<Action> = fc.oneof(
  fc.record({ type: fc.constant('configure' as const), knobs: someKnobs }),
  fc.record({ type: fc.constant('override' as const), owner, knobs: someKnobs }),
  fc.record({ type: fc.constantFrom('release' as const, 'leave' as const), owner }),
);

describe('the users’ policy', () => {
  it('is in force whenever no override is held, whatever overrides came and went', () => {
    fc.assert(
      fc.property(fc.array(action), (actions) => {
        const generator = createGenerator();
        const knobs = knobsOf(generator);
        // The policy of a generator without overrides.
        const plain = createGenerator();
        for (const step of actions) apply(knobs, plain, step);
        expect(knobs.shown.knobs.policy).toEqual(plain.knobs);
        for (const id of [0, 1, 2]) knobs.forget(clientId(`${id}`));
        expect(generator.knobs).toEqual(plain.knobs);
      }),
      { numRuns: runsOf({ whole: 1000, part: 300 }) },
    );
  });
});

function apply(knobs: Knobs, plain: ReturnType<typeof createGenerator>, step: Action): void {
  switch (step.type) {
    case 'configure':
      ignoreRefusal(() => knobs.configure(TEXT_GENERATOR, step.knobs));
      ignoreRefusal(() => plain.configure(step.knobs));
      break;
    case 'override':
      ignoreRefusal(() =>
        knobs.setOverride(clientId(`${step.owner}`), {
          overrideId: overrideId(`${step.owner}`),
          deployment: TEXT_GENERATOR,
          knobs: step.knobs,
        }),
      );
      break;
    case 'release':
      knobs.releaseOverride(overrideId(`${step.owner}`));
      break;
    case 'leave':
      knobs.forget(clientId(`${step.owner}`));
      break;
    default:
      step satisfies never;
  }
}

function ignoreRefusal(call: () => unknown): void {
  try {
    call();
  } catch {
    // The knobs in force do not change.
  }
}
