import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { Bridge, type BridgeOptions } from './bridge.ts';
import type { KeepTabOptions } from './cli/keep-tab.ts';
import type { CommandLineOptions } from './cli/options.ts';
import { pageAddress } from './cli/page-address.ts';
import { profileOf } from './cli/profile-folder.ts';
import { findLocalModels } from './local-models/find-local-models.ts';
import { startServer, type RunningServer } from './server.ts';
import type { ForwardTarget } from './forward/fetch-target.ts';

const BUILT_PAGE = fileURLToPath(new URL('../dist', import.meta.url));

/** Missing when the bridge runs from its sources. Their page has its own copy. */
const RUNTIME = fileURLToPath(new URL('../dist-package/onnxruntime', import.meta.url));

/** A bridge and the server that it answers on. */
export interface OwnServer {
  readonly bridge: Bridge;
  readonly server: RunningServer;
  /** The options, with IDs in place of paths of models. */
  readonly options: CommandLineOptions;
  /** The page's address. */
  readonly url: string;
}

/** The target of the command line, with the key of the environment. */
export function targetIn({ target }: CommandLineOptions): ForwardTarget | undefined {
  // Secrets often end with a line break.
  const apiKey = process.env['TABSERVE_UPSTREAM_API_KEY']?.trim() || undefined;
  return target && { ...target, apiKey };
}

/** Starts the server of a command. @throws BridgeError if it can't listen, or a path is none of a model. */
export async function startOwnServer(
  commandLine: CommandLineOptions,
  given: Pick<BridgeOptions, 'forwardTo' | 'log' | 'batchFolder'>,
): Promise<OwnServer> {
  const { localModels, options } = await findLocalModels(commandLine);
  let url = '';
  const { host, port, entry, hub } = options;
  const { allowedOrigins, allowsPriority, allowsAnyModel, allowsAdmin, knobs, maxUploadBytes, isHeadless } =
    options;
  const bridge = new Bridge({
    host,
    hub,
    allowedOrigins,
    allowsPriority,
    allowsAnyModel,
    allowsAdmin,
    knobs,
    maxUploadBytes,
    isHeadless,
    ...given,
    localModels,
    url: () => url,
  });
  const server = await startServer({
    host,
    port,
    entry,
    hub,
    root: options.root ?? BUILT_PAGE,
    // A page of one's own has its own.
    ...(options.root !== undefined && { policy: '' }),
    ...(existsSync(RUNTIME) && { runtime: RUNTIME }),
    bridge,
  }).catch(async (error: unknown) => {
    await bridge.close();
    throw error;
  });
  url = pageAddress(server.url, options);
  return { bridge, server, options, url };
}

/**
 * Keeps the server's own tab open until the signal aborts.
 *
 * @throws BridgeError if the browser doesn't stay open.
 */
export async function keepOwnTab(
  { bridge, server, options }: OwnServer,
  given: KeepTabOptions,
): Promise<void> {
  // Playwright is large, and only this needs it.
  const { keepHeadlessTab, OWN_ORIGIN } = await import('./cli/headless.ts');
  await keepHeadlessTab(pageAddress(OWN_ORIGIN, options), {
    ...given,
    server: new URL(server.url).host,
    cookie: bridge.ownBrowserCookie,
    profile: profileOf(options),
  });
}
