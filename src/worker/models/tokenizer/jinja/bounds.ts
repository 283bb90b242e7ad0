/** Rendering holds the worker of all tabs. A chat of the longest prompt takes milliseconds. */
const MAX_RENDER_MS = 250;
/** Characters or items of one value. Twice the longest prompt. */
export const MAX_VALUE_SIZE = 2 ** 18;
/** Characters and items of all values of one rendering. */
const MAX_TOTAL_SIZE = 2 ** 26;
/** Characters compared by one search for a text in a text, which takes about 100 ms. */
const MAX_SEARCH = 2 ** 28;
/** Statements and expressions in each other. The stack has room for more. */
const MAX_DEPTH = 400;

interface Budget {
  readonly now: () => number;
  readonly endMs: number;
  size: number;
  depth: number;
}

/** Rendering is synchronous, so one budget is in use at a time. */
let budget: Budget = unlimited();

function unlimited(): Budget {
  return { now: () => 0, endMs: Infinity, size: 0, depth: 0 };
}

/** Runs a rendering within its bounds. @throws RangeError where it exceeds them. */
export function bounded<Result>(now: () => number, render: () => Result): Result {
  budget = { now, endMs: now() + MAX_RENDER_MS, size: 0, depth: 0 };
  try {
    return render();
  } finally {
    budget = unlimited();
  }
}

/** Called for each step. @throws RangeError when the time is over. */
export function step(): void {
  if (budget.now() > budget.endMs) throw new RangeError(`it takes longer than ${MAX_RENDER_MS} ms`);
}

/** Runs a step that may contain others. @throws RangeError when too many are in each other. */
export function nested<Result>(work: () => Result): Result {
  step();
  if (budget.depth >= MAX_DEPTH) throw new RangeError('a macro or a value of it contains itself without end');
  budget.depth += 1;
  try {
    return work();
  } finally {
    budget.depth -= 1;
  }
}

/** Counts a value before it is made. @throws RangeError for one that is too large. */
export function allocate(size: number): void {
  budget.size += size;
  if (size > MAX_VALUE_SIZE || budget.size > MAX_TOTAL_SIZE)
    throw new RangeError(`it makes a value of more than ${MAX_VALUE_SIZE.toLocaleString('en')} characters`);
}

/** A text of checked length. */
export function sized(text: string): string {
  allocate(text.length);
  return text;
}

/** @throws RangeError for a search that may take seconds. */
export function checkSearch(text: string, part: string): void {
  if (text.length * part.length > MAX_SEARCH) throw new RangeError('it searches for a text that is too long');
}
