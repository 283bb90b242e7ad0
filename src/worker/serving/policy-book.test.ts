import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { DEFAULT_POLICY, updatePolicy, type BatchingPolicy } from '../../batching/generation/policy.ts';
import { clientId } from '../../batching/generation/test-support.ts';
import { PolicyBook } from './policy-book.ts';
import { overrideId } from '../test-support.ts';

/** A generator that is always configured as it was last told. */
function createGenerator() {
  return {
    policy: DEFAULT_POLICY,
    configure(knobs: unknown): BatchingPolicy {
      this.policy = updatePolicy(this.policy, knobs);
      return this.policy;
    },
  };
}

const [A, B] = [clientId('a'), clientId('b')];
const [FIRST, SECOND] = [overrideId('first'), overrideId('second')];

describe('an override', () => {
  it('hides the users’ policy, and takes over the knobs that it does not name', () => {
    const generator = createGenerator();
    const book = new PolicyBook(generator);
    book.configure({ maxBatchSize: 3 });
    expect(book.setOverride(A, FIRST, { policy: 'off' })).toMatchObject({ policy: 'off', maxBatchSize: 3 });
    expect(book.setOverride(A, FIRST, { maxBatchSize: 9 })).toMatchObject({ policy: 'off', maxBatchSize: 9 });
    expect(generator.policy).toEqual(book.override?.policy);
    expect(book.base).toEqual({ ...DEFAULT_POLICY, maxBatchSize: 3 });
    book.release(FIRST);
    expect(generator.policy).toEqual({ ...DEFAULT_POLICY, maxBatchSize: 3 });
  });

  it('keeps what the users change meanwhile until it ends', () => {
    const generator = createGenerator();
    const book = new PolicyBook(generator);
    book.setOverride(A, FIRST, { policy: 'off' });
    expect(book.configure({ policy: 'static' })).toMatchObject({ policy: 'static' });
    expect(generator.policy.policy).toBe('off');
    book.forget(A);
    expect(generator.policy.policy).toBe('static');
  });

  it('is refused while another one is held, and then changes nothing', () => {
    const generator = createGenerator();
    const book = new PolicyBook(generator);
    book.setOverride(A, FIRST, { policy: 'off' });
    expect(() => book.setOverride(B, SECOND, { policy: 'static' })).toThrow(
      expect.objectContaining({ code: 'OVERRIDE_HELD' }),
    );
    expect(generator.policy.policy).toBe('off');
  });

  it('is not begun with a bad knob', () => {
    const book = new PolicyBook(createGenerator());
    expect(() => book.setOverride(A, FIRST, { maxBatchSize: 0 })).toThrow(/maxBatchSize/);
    expect(book.override).toBeUndefined();
  });

  it('is ended by its own id, or the end of its own client, alone', () => {
    const book = new PolicyBook(createGenerator());
    book.setOverride(A, FIRST, { policy: 'off' });
    expect([book.release(SECOND), book.forget(B)]).toEqual([false, false]);
    expect(book.override?.overrideId).toBe(FIRST);
    expect([book.forget(A), book.forget(A)]).toEqual([true, false]);
  });
});

type Action =
  | { readonly type: 'configure'; readonly knobs: object }
  | { readonly type: 'override'; readonly owner: number; readonly knobs: object }
  | { readonly type: 'release' | 'leave'; readonly owner: number };

const owner = fc.nat(2);
const knobs = fc.record(
  { maxBatchSize: fc.integer({ min: -1, max: 70 }), policy: fc.constantFrom('off', 'static', 'continuous') },
  { requiredKeys: [] },
);
const action: fc.Arbitrary<Action> = fc.oneof(
  fc.record({ type: fc.constant('configure' as const), knobs }),
  fc.record({ type: fc.constant('override' as const), owner, knobs }),
  fc.record({ type: fc.constantFrom('release' as const, 'leave' as const), owner }),
);

describe('the users’ policy', () => {
  it('is in force whenever no override is held, whatever overrides came and went', () => {
    fc.assert(
      fc.property(fc.array(action), (actions) => {
        const generator = createGenerator();
        const book = new PolicyBook(generator);
        // What a generator would be told that knows of no overrides.
        const plain = createGenerator();
        for (const step of actions) apply(book, plain, step);
        expect(book.base).toEqual(plain.policy);
        for (const id of [0, 1, 2]) book.forget(clientId(`${id}`));
        expect(generator.policy).toEqual(plain.policy);
      }),
      { numRuns: 1000 },
    );
  });
});

function apply(book: PolicyBook, plain: ReturnType<typeof createGenerator>, step: Action): void {
  switch (step.type) {
    case 'configure':
      ignoreRefusal(() => book.configure(step.knobs));
      ignoreRefusal(() => plain.configure(step.knobs));
      break;
    case 'override':
      ignoreRefusal(() =>
        book.setOverride(clientId(`${step.owner}`), overrideId(`${step.owner}`), step.knobs),
      );
      break;
    case 'release':
      book.release(overrideId(`${step.owner}`));
      break;
    case 'leave':
      book.forget(clientId(`${step.owner}`));
      break;
    default:
      step satisfies never;
  }
}

function ignoreRefusal(call: () => unknown): void {
  try {
    call();
  } catch {
    // The book, or the generator, is as it was.
  }
}
