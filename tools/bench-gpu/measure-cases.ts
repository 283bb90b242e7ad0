import { CONTENDERS, LIBRARY_OF, type ContenderName } from './contender.ts';
import type { Entrant } from './entrant.ts';
import type { Played } from './page/play.ts';
import { casesOf, requestsOf, takesPart, type GpuCase, type Matrix } from './plan.ts';
import { checkCounts, type Measured } from './summarize.ts';

/** What is measured so far. */
interface Cell {
  readonly benchCase: GpuCase;
  readonly contender: ContenderName;
  readonly entrant: Entrant;
  readonly runs: Played[];
  failure?: string;
}

/** Every case goes once before it is timed: shaders are compiled, and memory is taken, when a shape first occurs. */
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
    for (const inCase of cases(warm)) {
      // Each round begins with another contender, so that what disturbs the machine disturbs them alike.
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

/** A case that fails is not tried again. */
async function attempt(cell: Cell, matrix: Matrix): Promise<void> {
  if (cell.failure !== undefined) return;
  const { benchCase, contender, entrant, runs } = cell;
  const requests = requestsOf(benchCase, matrix);
  try {
    const played = await entrant.run(contender, requests);
    checkCounts(played, requests);
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

function cases(cells: readonly Cell[]): readonly (readonly Cell[])[] {
  return [...Map.groupBy(cells, ({ benchCase }) => benchCase).values()];
}

function contenderNames(): ContenderName[] {
  return Object.keys(CONTENDERS).filter((name): name is ContenderName => name in CONTENDERS);
}
