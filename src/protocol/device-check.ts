import * as v from 'valibot';
import { duration, type Wire } from './wire.ts';

export const deviceCheck = v.object({
  /** `unknown`: there are no known values for models of this type. */
  values: v.picklist(['right', 'wrong', 'unknown']),
  /** Where values are wrong; otherwise empty. */
  where: v.string(),
  /** How fast one thread of the CPU reads its memory, in bytes a second. */
  bytesPerSecond: duration,
});
/** What a worker has found out about the device that its model runs on. */
export type DeviceCheck = Wire<typeof deviceCheck>;
