import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { DEFAULT_POLICY, updatePolicy, type BatchingPolicy } from '../../batching/generation/policy.ts';
import { clientId } from '../../batching/generation/test-support.ts';
import { TEXT_GENERATOR } from '../../protocol/generation.ts';
import { Knobs } from './knobs.ts';
import { overrideId } from '../test-support.ts';

/** A generator that always has the policy of its last `configure`. */
function createGenerator() {
  return {
    knobs: DEFAULT_POLICY,
    configure(knobs: unknown): BatchingPolicy {
      this.knobs = updatePolicy(this.knobs, knobs);
      return this.knobs;
    },
  };
}

function refuse(name: string): never {
  throw new Error(`no ${name}`);
}

/** The knobs of a text generator alone. */
function knobsOf(textGenerator: ReturnType<typeof createGenerator>): Knobs {
  return new Knobs({ textGenerator, named: refuse, batchedInfos: [] }, () => {});
}

const [A, B] = [clientId('a'), clientId('b')];
const [FIRST, SECOND] = [overrideId('first'), overrideId('second')];

describe('an override', () => {
  it('hides the users’ policy, and takes over the knobs that it does not name', () => {
    const generator = createGenerator();
    const knobs = knobsOf(generator);
    knobs.configure(TEXT_GENERATOR, { maxBatchSize: 3 });
    expect(knobs.setOverride(A, FIRST, { policy: 'off' })).toMatchObject({ policy: 'off', maxBatchSize: 3 });
    expect(knobs.setOverride(A, FIRST, { maxBatchSize: 9 })).toMatchObject({
      policy: 'off',
      maxBatchSize: 9,
    });
    expect(generator.knobs).toEqual(knobs.shown.override?.policy);
    expect(knobs.shown.knobs.policy).toEqual({ ...DEFAULT_POLICY, maxBatchSize: 3 });
    knobs.releaseOverride(FIRST);
    expect(generator.knobs).toEqual({ ...DEFAULT_POLICY, maxBatchSize: 3 });
  });

  it('keeps what the users change meanwhile until it ends', () => {
    const generator = createGenerator();
    const knobs = knobsOf(generator);
    knobs.setOverride(A, FIRST, { policy: 'off' });
    expect(knobs.configure(TEXT_GENERATOR, { policy: 'static' })).toMatchObject({ policy: 'static' });
    expect(generator.knobs.policy).toBe('off');
    knobs.forget(A);
    expect(generator.knobs.policy).toBe('static');
  });

  it('is refused while another one is held, and then changes nothing', () => {
    const generator = createGenerator();
    const knobs = knobsOf(generator);
    knobs.setOverride(A, FIRST, { policy: 'off' });
    expect(() => knobs.setOverride(B, SECOND, { policy: 'static' })).toThrow(
      expect.objectContaining({ code: 'OVERRIDE_HELD' }),
    );
    expect(generator.knobs.policy).toBe('off');
  });

  it('is not begun with a bad knob', () => {
    const knobs = knobsOf(createGenerator());
    expect(() => knobs.setOverride(A, FIRST, { maxBatchSize: 0 })).toThrow(/maxBatchSize/);
    expect(knobs.shown.override).toBeUndefined();
  });

  it('is ended by its own id, or the end of its own client, alone', () => {
    const knobs = knobsOf(createGenerator());
    knobs.setOverride(A, FIRST, { policy: 'off' });
    knobs.releaseOverride(SECOND);
    knobs.forget(B);
    expect(knobs.shown.override?.overrideId).toBe(FIRST);
    knobs.forget(A);
    expect(knobs.shown.override).toBeUndefined();
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
      { numRuns: 1000 },
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
        knobs.setOverride(clientId(`${step.owner}`), overrideId(`${step.owner}`), step.knobs),
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
