import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../batching/testing/fake-clock.ts';
import { createTransferMeter } from './transfer-meter.ts';

function createMeter() {
  const clock = new FakeClock();
  const meter = createTransferMeter(clock);
  /** So many bytes every 100 ms. */
  const receive = (bytes: number, ms: number): void => {
    for (let passed = 0; passed < ms; passed += 100) {
      clock.advance(100);
      meter.record(bytes);
    }
  };
  return { clock, meter, receive };
}

describe('a transfer meter', () => {
  it('knows no speed before a quarter of a second has passed', () => {
    const { meter, receive } = createMeter();
    receive(1000, 200);
    expect(meter.speedFor(1)).toEqual({ bytesPerSecond: 0 });
  });

  it('tells speed and time left', () => {
    const { meter, receive } = createMeter();
    receive(100, 2000);
    expect(meter.speedFor(5000)).toEqual({ bytesPerSecond: 1000, secondsLeft: 5 });
  });

  it('follows a change of speed within its window', () => {
    const { meter, receive } = createMeter();
    receive(100, 60_000);
    receive(900, 5200);
    expect(meter.speedFor(1).bytesPerSecond).toBeGreaterThan(8900);
  });

  it('comes to rest when nothing comes', () => {
    const { clock, meter, receive } = createMeter();
    receive(100, 2000);
    clock.advance(5001);
    expect(meter.speedFor(1)).toEqual({ bytesPerSecond: 0 });
  });
});
