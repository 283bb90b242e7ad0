import { fileURLToPath } from 'node:url';

import { BridgeError } from './errors.ts';
import { openBrowser } from './open-browser.ts';
import { parseOptions, USAGE } from './options.ts';
import { startServer, type RunningServer } from './server.ts';

const BUILT_PAGE = fileURLToPath(new URL('../dist', import.meta.url));

try {
  await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof BridgeError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}

async function main(args: readonly string[]): Promise<void> {
  const options = parseOptions(args);
  if (options.help) {
    console.log(USAGE);
    return;
  }
  const apiKey = process.env['TABSERVE_UPSTREAM_API_KEY'] || undefined;
  const upstream = options.upstream && { ...options.upstream, apiKey };
  const server = await startServer({ ...options, upstream, root: BUILT_PAGE });
  closeOnSignal(server);
  const [hub] = options.hub;
  const url = hub === undefined ? server.url : `${server.url}/?hub=${encodeURIComponent(hub)}`;
  console.log(`Tabserve is at ${url} (Ctrl+C stops it)`);
  if (upstream) console.log(`The text generator is ${upstream.url}`);
  if (options.openBrowser) openBrowser(url);
}

/** The process ends by itself once nothing listens; a second signal ends it at once. */
function closeOnSignal(server: RunningServer): void {
  const close = () => void server.close();
  process.once('SIGINT', close);
  process.once('SIGTERM', close);
}
