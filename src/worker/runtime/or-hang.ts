import { systemClock } from '../../batching/clock.ts';
import { StepWatchdog } from './step-watchdog.ts';

/**
 * Awaits the work with a timeout. Time in which the worker is blocked or the machine sleeps does not count.
 *
 * @throws StepHangError after `patienceMs`; the work may still go on then.
 */
export async function orHang<Result>(work: Promise<Result>, patienceMs: number): Promise<Result> {
  const { promise: hang, reject } = Promise.withResolvers<never>();
  const end = new StepWatchdog(systemClock, reject, patienceMs).begin();
  try {
    return await Promise.race([work, hang]);
  } finally {
    end();
  }
}
