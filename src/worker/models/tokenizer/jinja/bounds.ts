// Rendering holds the worker of all tabs. Bounds count work and not time, so that a chat is rendered on every device or on none:
// together they take some 50 ms of a laptop's CPU.

/** Statements, expressions, items of loops and compared values. A chat of 1,000 messages takes some 50,000. */
const MAX_STEPS = 300_000;
/** Characters or items of one value. Twice the longest prompt. */
export const MAX_VALUE_SIZE = 2 ** 18;
/** Characters and items of all values that one rendering makes or reads. The longest chats take 2 million. */
const MAX_TOTAL_SIZE = 2 ** 22;
/** Characters that searches for a text in a text compare at worst. */
const MAX_SEARCHED = 2 ** 29;
/** Statements and expressions in each other. The stack has room for more. */
const MAX_DEPTH = 400;

interface Budget {
  steps: number;
  size: number;
  searched: number;
  depth: number;
}

/** Rendering is synchronous, so one budget is in use at a time. */
let used: Budget = unused();

function unused(): Budget {
  return { steps: 0, size: 0, searched: 0, depth: 0 };
}

/** Runs a rendering within its bounds. @throws RangeError where it exceeds them. */
export function bounded<Result>(render: () => Result): Result {
  used = unused();
  return render();
}

/** Called for each step. @throws RangeError for too many. */
export function step(): void {
  used.steps += 1;
  if (used.steps > MAX_STEPS)
    throw new RangeError(`it takes more than ${MAX_STEPS.toLocaleString('en')} steps`);
}

/** Runs a step that may contain others. @throws RangeError when too many are in each other. */
export function nested<Result>(work: () => Result): Result {
  step();
  if (used.depth >= MAX_DEPTH) throw new RangeError('a macro or a value of it contains itself without end');
  used.depth += 1;
  try {
    return work();
  } finally {
    used.depth -= 1;
  }
}

/** Counts a value before it is made. @throws RangeError for one that is too large. */
export function allocate(size: number): void {
  if (size > MAX_VALUE_SIZE)
    throw tooLarge(`a value of more than ${MAX_VALUE_SIZE.toLocaleString('en')} characters`);
  spend(size);
}

/** Counts the characters of a text, or the items of a list, that are read. @throws RangeError for too many. */
export function spend(size: number): void {
  used.size += size;
  if (used.size > MAX_TOTAL_SIZE)
    throw tooLarge(`values of more than ${MAX_TOTAL_SIZE.toLocaleString('en')} characters`);
}

export function tooLarge(what: string): RangeError {
  return new RangeError(`it makes ${what}`);
}

/** A text of checked length. */
export function sized(text: string): string {
  allocate(text.length);
  return text;
}

/** @throws RangeError for a search, or many, that may take seconds. */
export function checkSearch(text: string, part: string): void {
  used.searched += text.length * part.length;
  if (used.searched > MAX_SEARCHED) throw new RangeError('it searches texts for too long');
}
