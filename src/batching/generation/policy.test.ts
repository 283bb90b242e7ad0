import { describe, expect, expectTypeOf, it } from 'vitest';
import { InvalidOptionError, UnknownOptionError } from '../base/errors.ts';
import { DEFAULT_POLICY, LARGEST_BATCH_SIZE, type BatchingPolicy } from './policy.ts';
import { updatePolicy } from './update-policy.ts';

describe('updatePolicy', () => {
  it('turns the knobs that are given and keeps the others', () => {
    const policy = updatePolicy(DEFAULT_POLICY, { policy: 'static', batchWaitTimeoutMs: 2.5 });
    expect(policy).toEqual({ ...DEFAULT_POLICY, policy: 'static', batchWaitTimeoutMs: 2.5 });
    expectTypeOf(policy).toEqualTypeOf<BatchingPolicy>();
  });

  it('accepts the ends of every range', () => {
    const lowest = { maxBatchSize: 1, batchWaitTimeoutMs: 0, maxBatchedTokens: 1, maxQueuedRequests: 1 };
    expect(updatePolicy(DEFAULT_POLICY, lowest)).toMatchObject(lowest);
    const highest = { maxBatchSize: LARGEST_BATCH_SIZE, maxQueuedRequests: Infinity };
    expect(updatePolicy(DEFAULT_POLICY, highest)).toMatchObject(highest);
  });

  it('changes nothing in the policy that it starts from', () => {
    const before = { ...DEFAULT_POLICY };
    updatePolicy(before, { maxBatchSize: 2 });
    expect(before).toEqual(DEFAULT_POLICY);
  });
});

it('updatePolicy leaves a knob alone that is undefined', () => {
  expect(updatePolicy(DEFAULT_POLICY, { maxBatchSize: undefined })).toEqual(DEFAULT_POLICY);
});

describe('updatePolicy rejects', () => {
  it.each([
    [{ maxBatchSize: 0 }, 'Expected `maxBatchSize` to be an integer >= 1 and <= 64, got `0` (number)'],
    [{ maxBatchSize: 65 }, 'Expected `maxBatchSize` to be an integer >= 1 and <= 64, got `65` (number)'],
    [{ maxBatchSize: 1.5 }, 'Expected `maxBatchSize` to be an integer >= 1 and <= 64, got `1.5` (number)'],
    [{ maxBatchSize: '8' }, 'Expected `maxBatchSize` to be an integer >= 1 and <= 64, got `8` (string)'],
    [
      { batchWaitTimeoutMs: -1 },
      'Expected `batchWaitTimeoutMs` to be a finite number >= 0, got `-1` (number)',
    ],
    [
      { batchWaitTimeoutMs: NaN },
      'Expected `batchWaitTimeoutMs` to be a finite number >= 0, got `NaN` (number)',
    ],
    [
      { batchWaitTimeoutMs: Infinity },
      'Expected `batchWaitTimeoutMs` to be a finite number >= 0, got `Infinity` (number)',
    ],
    [
      { maxBatchedTokens: Infinity },
      'Expected `maxBatchedTokens` to be an integer >= 1, got `Infinity` (number)',
    ],
    [
      { maxQueuedRequests: 0 },
      'Expected `maxQueuedRequests` to be an integer >= 1 or Infinity, got `0` (number)',
    ],
    [
      { maxQueuedRequests: true },
      'Expected `maxQueuedRequests` to be an integer >= 1 or Infinity, got `true` (boolean)',
    ],
    [{ policy: 'dynamic' }, 'Expected `policy` to be one of off, static, continuous, got `dynamic` (string)'],
  ])('%o', (knobs, message) => {
    const [knob] = Object.keys(knobs);
    expect(() => updatePolicy(DEFAULT_POLICY, knobs)).toThrow(new InvalidOptionError(message, knob));
  });

  it('a knob that does not exist, naming the one that was meant', () => {
    expect(() => updatePolicy(DEFAULT_POLICY, { maxBatchSzie: 4 })).toThrow(
      new UnknownOptionError(
        'Unknown option `maxBatchSzie`: the nearest of 10 is maxBatchSize.',
        'maxBatchSzie',
      ),
    );
  });

  it.each(['__proto__', 'constructor', 'toString'])('%s, which every object has', (option) => {
    const knobs: unknown = JSON.parse(`{ "${option}": 1 }`);
    expect(() => updatePolicy(DEFAULT_POLICY, knobs)).toThrow(UnknownOptionError);
  });

  it.each([[null], [undefined], [8], ['continuous'], [[8]]])('%o instead of an object', (knobs) => {
    expect(() => updatePolicy(DEFAULT_POLICY, knobs)).toThrow(/^Expected `knobs` to be an object, got /);
  });
});
