import type { GgufFile } from '../../../client/index.ts';
import { formatBytes } from '../../parts/format.ts';

export const FITS: Readonly<Record<NonNullable<GgufFile['fit']>, string>> = {
  fits: 'fits this device',
  tight: 'fits this device with fewer bits',
  'too-large': 'too large for this device',
};

/** `93 MB, fits this device` */
export function describeGgufFile({ numBytes, fit }: GgufFile): string {
  return [formatBytes(numBytes), ...(fit ? [FITS[fit]] : [])].join(', ');
}
