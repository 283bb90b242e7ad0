import { contenderNames, CONTENDERS, LIBRARY_OF, type ContenderName } from './contender.ts';
import type { Entrant } from './entrant.ts';
import type { Played } from './page/play.ts';
import { casesOf, requestsOf, takesPart, type GpuCase, type Matrix } from './plan.ts';
import { checkCounts, summarizeCell, type Measured } from './summarize.ts';

/** A contender in a case, with its runs so far. */
interface Cell {
  readonly benchCase: GpuCase;
  readonly contender: ContenderName;
  readonly entrant: Entrant;
  readonly runs: Played[];
  failure?: string;
}

/** Runs every case once before it is timed: the first run of a shape compiles shaders and allocates memory. */
export async function measureCases(
  entrants: readonly Entrant[],
  matrix: Matrix,
  numRounds: number,
): Promise<readonly Measured[]> {
  const cells = cellsOf(entrants, matrix);
  for (const cell of cells) await attempt(cell, matrix);
  const warm = cells.filter(({ failure }) => failure === undefined);
  for (const { runs } of warm) runs.splice(0);
  for (let round = 0; round < numRounds; round++) {
    for (const inCase of groupByCase(warm)) {
      // Each round begins with another contender, so that disturbances of the machine affect all alike.
      const turn = round % inCase.length;
      for (const cell of [...inCase.slice(turn), ...inCase.slice(0, turn)]) await attempt(cell, matrix);
    }
    console.log(`Round ${round + 1} of ${numRounds} is done.`);
  }
  return cells;
}

function cellsOf(entrants: readonly Entrant[], matrix: Matrix): readonly Cell[] {
  return casesOf(matrix).flatMap((benchCase) =>
    contenderNames().flatMap((contender): Cell[] => {
      const entrant = entrants.find(({ library }) => library === LIBRARY_OF[contender]);
      return entrant && takesPart(contender, benchCase) ? [{ benchCase, contender, entrant, runs: [] }] : [];
    }),
  );
}

/** Runs a case, unless it has failed before. */
async function attempt(cell: Cell, matrix: Matrix): Promise<void> {
  if (cell.failure !== undefined) return;
  const { benchCase, contender, entrant, runs } = cell;
  const requests = requestsOf(benchCase, matrix);
  try {
    const played = await entrant.run(contender, requests);
    checkCounts(played, requests);
    // A run that can't be summarized fails its cell only.
    summarizeCell({ benchCase, contender, runs: [played] });
    runs.push(played);
  } catch (error) {
    cell.failure = firstLineOf(error);
    const { kind, length, rows } = benchCase;
    console.error(`${CONTENDERS[contender]}, ${kind} ${length}, ${rows} requests: ${cell.failure}`);
  }
}

export function firstLineOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.replace(/^page\.evaluate: /, '').split('\n')[0] ?? '';
}

function groupByCase(cells: readonly Cell[]): readonly (readonly Cell[])[] {
  return [...Map.groupBy(cells, ({ benchCase }) => benchCase).values()];
}
