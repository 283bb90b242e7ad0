import * as v from 'valibot';
import { count, type Wire } from './wire.ts';

export const deviceFit = v.picklist(['fits', 'tight', 'too-large']);

export const ggufFile = v.object({
  /** The option `file` of `loadModel`. */
  name: v.string(),
  /** Bytes of the file, or of all parts of a split one. */
  numBytes: count,
  /**
   * Whether its weights fit on this device. `tight`: only with 8 or 4 bits. An estimate from its size, left out where its name has no
   * type that is known.
   */
  fit: v.exactOptional(deviceFit),
});
/**
 * A GGUF file of a repository.
 *
 * @interface
 */
export type GgufFile = Wire<typeof ggufFile>;
