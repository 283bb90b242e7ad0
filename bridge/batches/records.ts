import { rename, rm, writeFile } from 'node:fs/promises';
import { randomBytes } from 'node:crypto';

import { HttpError } from '../../src/protocol/openai/http-error.ts';

/** Writes a whole file: at any time it has its old content or the new one. */
export async function replaceFile(path: string, content: Parameters<typeof writeFile>[1]): Promise<void> {
  const unfinished = `${path}.tmp`;
  try {
    await writeFile(unfinished, content, { flush: true });
    await rename(unfinished, path);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
}

/** An id that sorts by the time of its creation. */
export function createId(prefix: string): string {
  return `${prefix}${Date.now().toString(16).padStart(12, '0')}${randomBytes(8).toString('hex')}`;
}

/** The pages of a list, as OpenAI's clients ask for them. */
export interface PageQuery {
  /** The id behind which the page begins. */
  readonly after: string | undefined;
  readonly limit: number;
}

/** A page of OpenAI's lists. @throws HttpError 400 for an `after` that is none of the ids. */
export function pageOf(items: readonly { readonly id: string }[], { after, limit }: PageQuery): object {
  const start = after === undefined ? 0 : items.findIndex(({ id }) => id === after) + 1;
  // From its beginning, a client that reads page after page would not end.
  if (after !== undefined && start === 0)
    throw HttpError.expected('after', 'the id of an entry of this list', after);
  const data = items.slice(start, start + limit);
  return {
    object: 'list',
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: start + limit < items.length,
  };
}
