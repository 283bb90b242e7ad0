import { InvalidOptionError } from '../../batching/base/errors.ts';

/** @param given What was to be cloned, by name. */
export function cloneRefusal(cause: unknown, given: object): InvalidOptionError {
  return InvalidOptionError.ofClone(cause, uncloneableIn(given, '', new Set()));
}

/** The place of the innermost part that can't be cloned; `place` if all parts can. */
function uncloneableIn(value: object, place: string, seen: Set<unknown>): string {
  seen.add(value);
  for (const name of Object.keys(value)) {
    let part: unknown;
    try {
      part = Reflect.get(value, name);
      structuredClone(part);
    } catch {
      // A cycle fails for another part.
      if (seen.has(part)) continue;
      const step = Array.isArray(value) ? `[${name}]` : `${place && '.'}${name}`;
      if (typeof part !== 'object' || part === null) return place + step;
      return uncloneableIn(part, place + step, seen);
    }
  }
  return place;
}
