import type { Dtype, ModelInfo } from '../../../../src/protocol/models.ts';
import { markdownTable } from '../../markdown-table.ts';
import { COMPARED_SIZE } from '../scenarios.ts';
import type { ShapedRowsResult } from './measure-shaped-rows.ts';

/** A line for each number of rows with a shape, and its rate over that of none. */
export function shapedRowsReportOf(
  model: ModelInfo,
  dtype: Dtype | undefined,
  results: readonly ShapedRowsResult[],
): string {
  const none = results.find(({ numShaped }) => numShaped === 0);
  const rows = results.map(({ numShaped, tokensPerSecond: { median } }) => [
    `${numShaped} of ${COMPARED_SIZE}`,
    median.toFixed(1),
    none ? (median / none.tokensPerSecond.median).toFixed(2) : '',
  ]);
  return [
    `${[model.id, dtype].filter(Boolean).join(' ')}, a vocabulary of ${model.vocabSize} tokens`,
    '',
    ...markdownTable(['rows with a shape', 'tokens/s', 'over none'], rows),
  ].join('\n');
}
