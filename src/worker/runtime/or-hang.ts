import { systemClock, type Clock } from '../../batching/clock.ts';
import { StepWatchdog } from './step-watchdog.ts';

/**
 * What the work comes to. A turn of the worker in which nothing else can happen is not counted, and neither is the time that a
 * machine sleeps.
 *
 * @throws StepHangError where it has come to no end within so many ms; it may still go on then.
 */
export async function orHang<Result>(
  work: Promise<Result>,
  patienceMs: number,
  clock: Clock = systemClock,
): Promise<Result> {
  const { promise: hang, reject } = Promise.withResolvers<never>();
  const end = new StepWatchdog(clock, reject, patienceMs).begin();
  try {
    return await Promise.race([work, hang]);
  } finally {
    end();
  }
}
