import type { FoundModel } from '../../../client/index.ts';
import { formatCompact, formatParameters } from '../../parts/format.ts';
import { FITS } from './describe-gguf-file.ts';

/** `135M parameters · fits this device · 1.2M downloads`, or why the model doesn't run. */
export function describeFound({ numParameters, isGguf, fit, obstacle, numDownloads }: FoundModel): string {
  const parts = [
    ...(numParameters === undefined ? [] : [formatParameters(numParameters)]),
    ...(isGguf ? ['GGUF'] : []),
    ...(obstacle === '' ? (fit ? [FITS[fit]] : []) : [obstacle]),
    `${formatCompact(numDownloads)} downloads`,
  ];
  return parts.join(' · ');
}
