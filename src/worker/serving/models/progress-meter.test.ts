import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../batching/testing/fake-clock.ts';
import { createProgressMeter } from './progress-meter.ts';

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
