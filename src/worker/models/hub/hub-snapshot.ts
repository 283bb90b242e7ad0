import * as v from 'valibot';

import type { HubClient } from './hub-client.ts';
import { badAnswer } from './hub-errors.ts';

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

const hubModel = v.object({
  sha: v.string(),
  siblings: v.array(
    v.object({
      rfilename: v.string(),
      size: v.number(),
      blobId: v.string(),
      /** Set for a large file: the other fields then describe a pointer. */
      lfs: v.optional(v.object({ sha256: v.string(), size: v.number() })),
    }),
  ),
});

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
  const what = `the list of files of ${id}`;
  const url = `${hub}/api/models/${id}/revision/${encodeURIComponent(revision)}?blobs=true`;
  const answer = await client.fetch(url, what);
  const parsed = v.safeParse(hubModel, await answer.json().catch(() => undefined));
  if (!parsed.success) throw badAnswer(hub, `it sent something else than ${what}`);
  const { sha: commit, siblings } = parsed.output;
  return { commit, files: new Map(siblings.map((file) => [file.rfilename, hubFileOf(file)])) };
}

function hubFileOf({
  rfilename: path,
  size,
  blobId,
  lfs,
}: v.InferOutput<typeof hubModel>['siblings'][number]): HubFile {
  if (!lfs) return { path, size, digest: { algorithm: 'git-blob', hex: blobId } };
  return { path, size: lfs.size, digest: { algorithm: 'sha256', hex: lfs.sha256 } };
}
