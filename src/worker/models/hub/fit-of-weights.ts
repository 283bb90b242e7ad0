import type { FoundModel } from '../../../protocol/found-model.ts';
import { roomForWeights, type DeviceLimits } from '../checkpoint/device-fit.ts';
import { hasFloat16, isSlow } from '../checkpoint/model-plan.ts';
import { BLOCK_SIZE, BYTES_PER_VALUE } from '../checkpoint/packed-weights.ts';

/** Weights are converted to the best precision that fits. */
export function fitOfWeights(numWeights: number, device: DeviceLimits): NonNullable<FoundModel['fit']> {
  const bytesPerValue = BYTES_PER_VALUE[hasFloat16(device) ? 'float16' : 'float32'];
  const whole = numWeights * bytesPerValue;
  const size = isSlow(whole, device) ? numWeights * (1 + bytesPerValue / BLOCK_SIZE) : whole;
  if (size <= roomForWeights(device)) return 'fits';
  // In q4, about half of the weights have 8 bits.
  const smallest = 0.75 + bytesPerValue / BLOCK_SIZE;
  return numWeights * smallest <= roomForWeights(device) ? 'tight' : 'too-large';
}
