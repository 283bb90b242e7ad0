import { GENERATION_FIELD_NAMES } from '../../state/generation-fields.ts';
import { parametersOf, PLAIN_PARTS } from '../../state/permalink.ts';

/** What a link sets that this version of the page doesn’t know. */
export function unknownIn(hash: string): readonly string[] {
  const known = new Set<string>([...PLAIN_PARTS, ...GENERATION_FIELD_NAMES]);
  return [...new Set(parametersOf(hash).keys())].filter((name) => !known.has(name));
}

/** The parts of a link that its sender’s page can’t have written so: a % in them stands for no character. */
export function damagedIn(hash: string): readonly string[] {
  const parts = hash.replace(/^#/, '').split('&');
  const damaged = parts.filter((part) => decoded(part) === undefined);
  return [...new Set(damaged.map((part) => part.replace(/=.*/s, '')))];
}

function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}
