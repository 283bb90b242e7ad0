import * as v from 'valibot';

import { ModelNotFoundError } from '../../protocol/errors/hub.ts';
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
 * @throws What the client throws; ModelNotFoundError where the answer is not a hub's.
 */
export async function readHubSnapshot(
  client: Pick<HubClient, 'hub' | 'id' | 'fetch'>,
  revision: string,
): Promise<HubSnapshot> {
  const { hub, id } = client;
  /** Some servers answer every address with a page of their own. */
  const notFound = (): ModelNotFoundError => ModelNotFoundError.of(id, hub, 'model under the name');
  const api = `${hub}/api/models/${id}`;
  const answer = await client.fetch(`${api}/revision/${encodeURIComponent(revision)}?expand=sha`);
  const { sha: commit } = await parseBody(hubModel, answer, notFound);
  const files = new Map<string, HubFile>();
  let next: string | undefined = `${api}/tree/${commit}`;
  while (next !== undefined) {
    const page = await client.fetch(next);
    for (const file of await parseBody(hubFiles, page, notFound)) {
      if (file.type === 'file') files.set(file.path, hubFileOf(file));
    }
    next = nextPageOf(page);
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

/** @throws The error that `refuse` makes, for a body that is no JSON or has another shape. */
async function parseBody<Schema extends v.GenericSchema>(
  schema: Schema,
  answer: Response,
  refuse: () => Error,
): Promise<v.InferOutput<Schema>> {
  const body: unknown = await answer.json().catch(() => undefined);
  const parsed = v.safeParse(schema, body);
  if (!parsed.success) throw refuse();
  return parsed.output;
}
