import { mkdir, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

import { BridgeError, codeOf } from '../base/errors.ts';

/** Options of the command line that say where models stay, or name something to keep. */
type ProfileOptions = Readonly<
  Partial<Record<'profile' | 'root' | 'model' | 'embedder' | 'reranker', string | undefined>>
>;

type Machine = Pick<NodeJS.Process, 'platform' | 'env'>;

/** The profile of the server's own browser, in the platform's folder for caches. */
export function defaultProfile({ platform, env }: Machine = process): string {
  return join(cacheFolder(platform, env), 'tabserve', 'browser');
}

/** The profile of a server with these options. Empty for a temporary one, where the browser would have no model to keep. */
export function profileOf({ profile, root, model, embedder, reranker }: ProfileOptions): string {
  const hasToKeep = (root ?? model ?? embedder ?? reranker) !== undefined;
  return profile ?? (hasToKeep ? defaultProfile() : '');
}

/** The files and batches of the servers of this user that name no other folder. */
export function defaultBatchFolder({ platform, env }: Machine = process): string {
  return join(cacheFolder(platform, env), 'tabserve', 'batches');
}

function cacheFolder(platform: NodeJS.Platform, env: NodeJS.ProcessEnv): string {
  if (platform === 'win32') return env['LOCALAPPDATA'] || join(homedir(), 'AppData', 'Local');
  if (platform === 'darwin') return join(homedir(), 'Library', 'Caches');
  return env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
}

/** Chromium's value for a permission that is granted. */
const GRANTED = 1;

/**
 * Creates a Chromium profile in which the page may store models for good. Chromium denies that to a page that no person uses, and
 * would evict its models when the disk is full. An existing profile stays as it is.
 *
 * @throws BridgeError if the folder can't be written.
 */
export async function createProfile(folder: string, origin: string): Promise<void> {
  const durableStorage = { [`${origin}:80,*`]: { setting: GRANTED } };
  const preferences = { profile: { content_settings: { exceptions: { durable_storage: durableStorage } } } };
  const path = join(folder, 'Default', 'Preferences');
  try {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, JSON.stringify(preferences), { flag: 'wx' });
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw BridgeError.cannotWriteProfile(folder, error);
  }
}
