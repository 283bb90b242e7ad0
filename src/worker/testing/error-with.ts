import { expect } from 'vitest';

/** Test support: matches an error of this code, whose message holds the text or matches the pattern. */
export function errorWith(code: string, says: string | RegExp) {
  const message: unknown =
    typeof says === 'string' ? expect.stringContaining(says) : expect.stringMatching(says);
  return expect.objectContaining({ code, message });
}
