import { homedir } from 'node:os';
import { join } from 'node:path';

type Machine = Pick<NodeJS.Process, 'platform' | 'env'>;

/** The profile of the server's own browser, in the platform's folder for caches. */
export function defaultProfile({ platform, env }: Machine = process): string {
  return join(cacheFolder(platform, env), 'tabserve', 'browser');
}

function cacheFolder(platform: NodeJS.Platform, env: NodeJS.ProcessEnv): string {
  if (platform === 'win32') return env['LOCALAPPDATA'] || join(homedir(), 'AppData', 'Local');
  if (platform === 'darwin') return join(homedir(), 'Library', 'Caches');
  return env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
}
