import { parseArgs } from 'node:util';

import { BridgeError } from './errors.ts';
import { parseUpstreamUrl } from './upstream/upstream-options.ts';

export interface BridgeOptions {
  /** 0 lets the system choose a free port. */
  readonly port: number;
  /** `localhost` stands for both loopback addresses, 127.0.0.1 and ::1. */
  readonly host: string;
  readonly openBrowser: boolean;
  /** Where the page may fetch models from: a hub, and the origins that it redirects to. Empty for huggingface.co. */
  readonly hub: readonly string[];
  /** An OpenAI-compatible server that generates instead of a model in the tab. */
  readonly upstream?: { readonly url: string; readonly model?: string | undefined };
  readonly help: boolean;
}

const DEFAULT_PORT = 8000;

export const USAGE = `Usage: npm start -- [options]
  --port N     port to listen on (default ${DEFAULT_PORT}; 0 = any free one)
  --host NAME  address to listen on (default localhost: 127.0.0.1 and ::1)
  --hub URL    fetch models from this hub instead of huggingface.co; again for each host that it redirects to
  --upstream URL  let this OpenAI-compatible server (vLLM, Ray Serve LLM) generate, instead of a model in the tab;
               its key, if any, in the environment variable TABSERVE_UPSTREAM_API_KEY
  --upstream-model ID  which of its models (default the first that it names)
  --no-open    do not open a browser
  --help       print this`;

/** Reads the command line; throws `BridgeError` with the usage text for anything it does not know. */
export function parseOptions(args: readonly string[]): BridgeOptions {
  const { values } = parseStrictly(args);
  return {
    port: parsePort(values.port),
    host: values.host,
    openBrowser: !values['no-open'],
    hub: values.hub.map(parseOrigin),
    ...parseUpstream(values.upstream, values['upstream-model']),
    help: values.help,
  };
}

function parseStrictly(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      strict: true,
      allowPositionals: false,
      options: {
        port: { type: 'string', default: String(DEFAULT_PORT) },
        host: { type: 'string', default: 'localhost' },
        hub: { type: 'string', multiple: true, default: [] },
        upstream: { type: 'string' },
        'upstream-model': { type: 'string' },
        'no-open': { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new BridgeError('INVALID_ARGUMENT', `${reason}\n${USAGE}`, error);
  }
}

function parsePort(text: string): number {
  const port = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (port <= 65_535) return port;
  const message = `Expected \`--port\` to be an integer from 0 to 65535, got \`${text}\` (string)`;
  throw new BridgeError('INVALID_ARGUMENT', message);
}

function parseUpstream(text: string | undefined, model: string | undefined): Pick<BridgeOptions, 'upstream'> {
  if (text !== undefined) return { upstream: { url: parseUpstreamUrl(text), model } };
  if (model === undefined) return {};
  const message =
    'Expected `--upstream-model` to come with `--upstream`, which names the server of that model.';
  throw new BridgeError('INVALID_ARGUMENT', message);
}

function parseOrigin(text: string): string {
  const { protocol, origin } = URL.canParse(text) ? new URL(text) : { protocol: '', origin: '' };
  if (protocol === 'https:' || protocol === 'http:') return origin;
  const message = `Expected \`--hub\` to be the address of a hub, got \`${text}\` (string)`;
  throw new BridgeError('INVALID_ARGUMENT', message);
}
