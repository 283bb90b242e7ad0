import { HttpError } from './http-error.ts';

/** The query's parameters by name; each once, but for those that are lists. @throws HttpError 400. */
export function readQuery(
  query: URLSearchParams,
  known: readonly string[],
  lists: readonly string[] = [],
): Readonly<Record<string, string | undefined>> {
  for (const name of new Set(query.keys())) {
    if (!known.includes(name) && !lists.includes(name)) throw HttpError.unknown(name, [...known, ...lists]);
    if (!lists.includes(name) && query.getAll(name).length > 1)
      throw HttpError.invalid(name, `Expected \`${name}\` to be given once.`);
  }
  return Object.fromEntries(known.map((name) => [name, query.get(name) ?? undefined]));
}

/** @throws HttpError 400 for a text that is no number. */
export function parseNumber(name: string, text: string | undefined): number {
  const number = text === undefined || text.trim() === '' ? Number.NaN : Number(text);
  if (Number.isFinite(number)) return number;
  throw HttpError.invalid(name, `Expected \`${name}\` to be a finite number, got \`${text ?? 'nothing'}\`.`);
}
