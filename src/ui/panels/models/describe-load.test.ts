import { describe, expect, it } from 'vitest';

import type { ModelLoad } from '../../../client/index.ts';
import {
  describeDeletion,
  describeLoad,
  describeMemory,
  describePicked,
  describeStored,
} from './describe-load.ts';

const LOAD: ModelLoad = {
  id: 'a/b',
  isPaused: false,
  phase: 'download',
  loaded: 12e6,
  total: 548_105_171,
  fraction: 0.4,
};

describe('a load', () => {
  it('is described with its bytes, its speed and what is left', () => {
    const load = { ...LOAD, bytesPerSecond: 3.4e6, secondsLeft: 157.7 };
    expect(describeLoad(load)).toBe('downloading 12.0 of 548.1 MB, 3.40 MB/s, 3 min left');
  });

  it.each([
    [0.2, '1 s'],
    [89, '89 s'],
    [5 * 3600, '5.00 h'],
  ])('with %d s left says %s', (secondsLeft, expected) => {
    expect(describeLoad({ ...LOAD, secondsLeft })).toContain(`${expected} left`);
  });

  it('says that it is paused, and where', () => {
    expect(describeLoad({ ...LOAD, isPaused: true })).toBe('paused 12.0 of 548.1 MB');
  });

  it('says how often the hub was asked without an answer', () => {
    const asking = { ...LOAD, phase: 'resolve', total: 0 } as const;
    expect(describeLoad({ ...asking, loaded: 0 })).toBe('reading its configuration from the hub');
    expect(describeLoad({ ...asking, loaded: 2 })).toBe(
      'reading its configuration from the hub, no answer yet, try 3',
    );
  });

  it('says what the model will take, once that is known', () => {
    expect(describeMemory(LOAD)).toBe('');
    expect(describeMemory({ ...LOAD, memoryBytes: 812e6, dtype: 'q4' })).toBe(
      'It will take 812 MB of memory in q4, with one text of full length.',
    );
    expect(describeMemory({ ...LOAD, memoryBytes: 812e6, dtype: 'fp32' })).toContain('in fp32, with one');
    expect(describeMemory({ ...LOAD, memoryBytes: 812e6, dtype: 'fp32' })).toContain('a smaller precision');
  });

  it('of picked files is described before it begins', () => {
    const plan = { dtype: 'q8', isAuto: true, memoryBytes: 141e6, obstacle: '', isStored: true } as const;
    const takes = 'It will take 141 MB of memory in q8, with one text of full length.';
    expect(describePicked(plan)).toBe(`${takes} For less, choose a smaller precision.`);
    expect(describePicked({ ...plan, dtype: 'q4' })).not.toContain('For less');
    expect(describePicked({ ...plan, obstacle: 'fp16 needs a GPU.' })).toBe('fp16 needs a GPU.');
  });

  it('counts no bytes where there are steps', () => {
    expect(describeLoad({ ...LOAD, phase: 'compile', loaded: 1, total: 5 })).toBe('warming up');
  });
});

const STORED = { key: 'k', id: 'a/b', revision: 'main', storedBytes: 12e6 };

it('a stored model is described with its precision, or with how much of it is here', () => {
  expect(describeStored({ ...STORED, dtype: 'q8', totalBytes: 12e6 })).toBe('q8, 12.0 MB');
  expect(describeStored({ ...STORED, totalBytes: 548e6 })).toBe('12.0 of 548.0 MB kept');
  expect(describeStored({ ...STORED, totalBytes: 0 })).toBe('12.0 MB kept');
});

it('the deletion of a model in use says what will happen, and how to get the model back', () => {
  const running = { ...STORED, totalBytes: 12e6, isInUse: true };
  expect(describeDeletion(running)).toBe(
    'a/b is in use. It runs until its tab closes, then another model takes over. To use it again, download it.',
  );
  expect(describeDeletion({ ...running, revision: '' })).toMatch(/pick its files from your disk\.$/);
});
