import { fileURLToPath } from 'node:url';

import { Bridge } from './bridge.ts';
import { BridgeError } from './errors.ts';
import { createAccessLog } from './http/access-log.ts';
import { openBrowser } from './open-browser.ts';
import { parseOptions, USAGE, type BridgeOptions } from './options.ts';
import { startServer } from './server.ts';

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
  let url = '';
  const apiKey = process.env['TABSERVE_UPSTREAM_API_KEY'] || undefined;
  const upstream = options.upstream && { ...options.upstream, apiKey };
  const bridge = new Bridge({
    ...options,
    upstream,
    url: () => url,
    log: createAccessLog(options.logLevel, (line) => console.log(line)),
  });
  const server = await startServer({ ...options, root: BUILT_PAGE, bridge }).catch((error: unknown) => {
    bridge.close();
    throw error;
  });
  closeOnSignal(() => server.close());
  url = pageUrl(server.url, options);
  console.log(`Tabserve is at ${url} (Ctrl+C stops it)`);
  if (upstream) console.log(`The text generator is ${upstream.url}`);
  if (options.isHeadless) await serveHeadless(url, bridge);
  else if (options.openBrowser) openBrowser(url);
}

function pageUrl(origin: string, { hub: [hub] }: BridgeOptions): string {
  return hub === undefined ? origin : `${origin}/?hub=${encodeURIComponent(hub)}`;
}

async function serveHeadless(url: string, { serve }: Bridge): Promise<void> {
  // What starts browsers is large, and only this needs it.
  const { openHeadlessTab } = await import('./headless.ts');
  const tab = await openHeadlessTab(url);
  closeOnSignal(() => tab.close());
  const { model, backend } = await serve.ready();
  const example = `curl "${new URL(url).origin}/?text=Once+upon+a+time"`;
  console.log(
    `${model?.id} is ready on ${backend?.name} ${backend?.precision}, ${backend?.adapter}. Try: ${example}`,
  );
}

/** The process ends by itself once nothing listens; a second signal ends it at once. */
function closeOnSignal(close: () => Promise<void>): void {
  const onSignal = (): void => void close();
  process.once('SIGINT', onSignal);
  process.once('SIGTERM', onSignal);
}
