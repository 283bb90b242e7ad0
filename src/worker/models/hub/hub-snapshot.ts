import * as v from 'valibot';

import { HubAnswerError } from '../../../protocol/errors/hub.ts';
import type { HubClient } from './hub-client.ts';

/** A file's size and digest, as the hub lists them. */
export interface HubFile {
  readonly path: string;
  readonly size: number;
  /** Hexadecimal: the SHA-256 of a large file, the git blob id of any other. */
  readonly digest: { readonly algorithm: 'sha256' | 'git-blob'; readonly hex: string };
}

/** A model at one commit. */
export interface HubSnapshot {
  readonly commit: string;
  readonly files: ReadonlyMap<string, HubFile>;
}

/** A page of the hub has up to 1,000 files; no model has a hundred thousand. */
const MAX_PAGES = 100;

const hubModel = v.object({ sha: v.string() });

const hubFiles = v.array(
  v.object({
    type: v.string(),
    path: v.string(),
    size: v.number(),
    oid: v.optional(v.string(), ''),
    lfs: v.optional(v.object({ oid: v.string(), size: v.number() })),
  }),
);

/**
 * Asks the hub which commit a revision is and what files it has.
 *
 * @param revision A branch, a tag or a commit.
 * @throws What the client throws; HubAnswerError where the answer is not a hub's.
 */
export async function readHubSnapshot(
  client: Pick<HubClient, 'hub' | 'id' | 'fetch'>,
  revision: string,
): Promise<HubSnapshot> {
  const { hub, id } = client;
  const ask = async <Schema extends v.GenericSchema>(url: string, schema: Schema, what: string) => {
    const answer = await client.fetch(url, what);
    const parsed = v.safeParse(schema, await answer.json().catch(() => undefined));
    if (!parsed.success) throw HubAnswerError.of(hub, `it sent something else than ${what}`);
    return { answer, body: parsed.output };
  };
  const api = `${hub}/api/models/${id}`;
  const model = `${api}/revision/${encodeURIComponent(revision)}?expand=sha`;
  const { sha: commit } = (await ask(model, hubModel, `the revision of ${id}`)).body;
  const files = new Map<string, HubFile>();
  const pages = new Set<string>();
  let next: string | undefined = `${api}/tree/${commit}`;
  while (next !== undefined) {
    if (pages.has(next) || pages.size === MAX_PAGES)
      throw HubAnswerError.of(hub, `the list of files of ${id} has no end (${next})`);
    pages.add(next);
    const { answer, body } = await ask(next, hubFiles, `the list of files of ${id}`);
    for (const file of body) {
      if (file.type === 'file') files.set(file.path, hubFileOf(file));
    }
    next = nextPageOf(answer);
  }
  return { commit, files };
}

function hubFileOf({ path, size, oid, lfs }: v.InferOutput<typeof hubFiles>[number]): HubFile {
  if (!lfs) return { path, size, digest: { algorithm: 'git-blob', hex: oid } };
  return { path, size: lfs.size, digest: { algorithm: 'sha256', hex: lfs.oid } };
}

function nextPageOf({ headers }: Response): string | undefined {
  const [, url] = /<([^>]+)>;\s*rel="next"/.exec(headers.get('link') ?? '') ?? [];
  return url;
}
