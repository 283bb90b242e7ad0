import type { Page } from 'playwright';

import { spreadOf, type Spread } from '../../statistics.ts';
import { measureInPage, type Plan } from '../measure.ts';
import { COMPARED_SIZE, knobsOf, requestsOf, SUSTAINED_MS, type ScenarioRequest } from '../scenarios.ts';

/** Rows of each batch that have a shape. */
const NUM_SHAPED = [0, 1, 4, 8];

/** It has more tokens than any request generates, so that rows with and without it are as long. */
const SCHEMA = { type: 'array', items: { type: 'string' }, minItems: 200 };

export interface ShapedRowsResult {
  readonly numShaped: number;
  readonly tokensPerSecond: Spread;
}

/** Measures batches of eight rows, some of which have a shape, in turns. The model of the page must be ready. */
export async function measureShapedRows(
  page: Page,
  rounds: number,
  maxNewTokens: number,
): Promise<readonly ShapedRowsResult[]> {
  const rates: readonly number[][] = NUM_SHAPED.map(() => []);
  const play = (numShaped: number, numTokens: number, leastMs: number) =>
    page.evaluate(measureInPage, planOf(numShaped, numTokens, leastMs));
  // Loads and compiles what the first shape needs.
  await play(COMPARED_SIZE, 3, 0);
  for (let round = 1; round <= rounds; round++) {
    for (const [index, numShaped] of NUM_SHAPED.entries()) {
      await play(numShaped, 3, 0);
      const { numOutputTokens, wallMs } = await play(numShaped, maxNewTokens, SUSTAINED_MS);
      rates[index]?.push((1000 * numOutputTokens) / wallMs);
      console.log(`round ${round}: ${numShaped} of ${COMPARED_SIZE} rows with a shape`);
    }
  }
  return NUM_SHAPED.map((numShaped, index) => ({
    numShaped,
    tokensPerSecond: spreadOf(rates[index] ?? []),
  }));
}

function planOf(numShaped: number, numTokens: number, leastMs: number): Plan {
  const scenario = { policy: 'continuous', numRequests: COMPARED_SIZE } as const;
  const requests = requestsOf(scenario, numTokens).map(({ prompt, options }, index): ScenarioRequest => {
    const shape =
      index < numShaped
        ? { responseFormat: { type: 'json_schema', schema: SCHEMA } as const }
        : { ignoreEos: true };
    return { prompt, options: { ...options, ...shape } };
  });
  return { knobs: knobsOf(scenario), requests, leastMs };
}
