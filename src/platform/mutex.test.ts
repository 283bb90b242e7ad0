import { describe, expect, it } from 'vitest';
import { createMutex } from './mutex.ts';

describe('createMutex', () => {
  it('runs tasks one after another in the order of the calls, past failures', async () => {
    const mutex = createMutex();
    const events: string[] = [];
    const task = (name: string, fails = false) =>
      mutex.run(async () => {
        events.push(`${name} starts`);
        await Promise.resolve();
        events.push(`${name} ends`);
        if (fails) throw new Error(name);
        return name;
      });
    const outcomes = await Promise.allSettled([task('a'), task('b', true), task('c')]);
    expect(events).toEqual(['a starts', 'a ends', 'b starts', 'b ends', 'c starts', 'c ends']);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  });
});
