import { rename, rm, writeFile } from 'node:fs/promises';
import { randomBytes } from 'node:crypto';

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

/** A page of OpenAI's lists. */
export function pageOf(items: readonly { readonly id: string }[], { after, limit }: PageQuery): object {
  const start = after === undefined ? 0 : items.findIndex(({ id }) => id === after) + 1;
  const data = items.slice(start, start + limit);
  return {
    object: 'list',
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: start + limit < items.length,
  };
}
