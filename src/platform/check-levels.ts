/**
 * Parts inside each other that a message may have. A browser drops a message without a word if reading it takes more stack than the
 * receiving thread has: in Chromium's workers that of some 2,000 levels.
 */
const MAX_LEVELS = 500;

/** A structured clone has them in its own process alone: the browser drops a message to another one without a word. */
const OF_ONE_PROCESS = /SharedArrayBuffer|WebAssembly/;

/** @throws RangeError for a value that the other thread may not be able to read. */
export function checkLevels(value: unknown): void {
  const seen = new Set<object>();
  // The parts that are still to come on each level, in the order in which the browser writes them.
  const path = [[value].values()];
  for (let parts = path.at(-1); parts; parts = path.at(-1)) {
    const { value: part, done } = parts.next();
    if (done === true) path.pop();
    else if (typeof part === 'object' && part !== null && !seen.has(part)) {
      if (path.length > MAX_LEVELS)
        throw new RangeError(`it has more than ${MAX_LEVELS} levels inside each other`);
      if (OF_ONE_PROCESS.test(Object.prototype.toString.call(part)))
        throw new RangeError('it has shared memory or a part of WebAssembly, which other tabs cannot read');
      seen.add(part);
      path.push(partsOf(part).values());
    }
  }
}

function partsOf(value: object): readonly unknown[] {
  if (ArrayBuffer.isView(value)) return [value.buffer];
  if (value instanceof Map) return [...value].flat();
  return value instanceof Set ? [...value] : Object.values(value);
}
