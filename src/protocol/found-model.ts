import * as v from 'valibot';
import { deviceFit } from './gguf-file.ts';
import { count, type Wire } from './wire.ts';

export const foundModel = v.object({
  /** The hub's ID. */
  id: v.string(),
  /** Downloads in the last month. */
  numDownloads: count,
  /** Number of weights; left out where the hub doesn't know it. */
  numParameters: v.exactOptional(count),
  /** Whether its weights are in GGUF files, of which `loadModel` takes one: see `ggufFiles`. */
  isGguf: v.boolean(),
  /** Whether its weights fit on this device, as those of a GGUF file do; left out where their number isn't known. */
  fit: v.exactOptional(deviceFit),
  /** Why the model doesn't run here, whatever its size; empty if it may. */
  obstacle: v.string(),
});
/**
 * A model that a search of the hub has found.
 *
 * @interface
 */
export type FoundModel = Wire<typeof foundModel>;
