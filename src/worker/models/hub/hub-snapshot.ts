import { importPart } from '../../platform/import-part.ts';
import { ModelNotFoundError } from '../../protocol/errors/hub.ts';
import type { HubClient } from './hub-client.ts';

/** What the hub says of a file: how long it is, and which digest its bytes have. */
export interface HubFile {
  readonly path: string;
  readonly size: number;
  readonly digest: FileDigest;
}

/** Large files are named by the SHA-256 of their bytes, the others by their git blob id. Hexadecimal. */
export interface FileDigest {
  readonly algorithm: 'sha256' | 'git-blob';
  readonly hex: string;
}

/** A model as it was at one commit, which does not change any more. */
export interface HubSnapshot {
  readonly commit: string;
  readonly files: ReadonlyMap<string, HubFile>;
}

/**
 * Asks the hub which commit a revision is and what files it has.
 *
 * @param revision A branch, a tag or a commit.
 * @throws What the client throws; ModelNotFoundError where the hub's answer names no commit.
 */
export async function readHubSnapshot(client: HubClient, revision: string): Promise<HubSnapshot> {
  // On demand: a model that is stored needs nothing of it.
  const { listFiles, modelInfo } = await importPart(() => import('@huggingface/hub'));
  const { hub: hubUrl, id: name, fetch } = client;
  const { sha } = await modelInfo({ name, hubUrl, revision, fetch, additionalFields: ['sha'] }).catch(
    (cause: unknown) => {
      // Some servers answer every address with a page of their own.
      throw cause instanceof SyntaxError
        ? ModelNotFoundError.of(name, hubUrl, 'model under the name')
        : cause;
    },
  );
  if (!sha) throw ModelNotFoundError.of(name, hubUrl, `commit \`${revision}\``);
  const files = new Map<string, HubFile>();
  const repo = { type: 'model', name } as const;
  for await (const entry of listFiles({ repo, hubUrl, revision: sha, fetch })) {
    const { type, path, size, oid = '', lfs } = entry;
    if (type !== 'file') continue;
    const digest: FileDigest = lfs
      ? { algorithm: 'sha256', hex: lfs.oid }
      : { algorithm: 'git-blob', hex: oid };
    files.set(path, { path, size: lfs?.size ?? size, digest });
  }
  return { commit: sha, files };
}
