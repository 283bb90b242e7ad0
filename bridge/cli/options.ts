import { parseArgs } from 'node:util';

import { BridgeError } from '../errors.ts';
import { LOG_LEVELS, type LogLevel } from '../http/access-log.ts';
import type { WhenToOpen } from './open-browser.ts';
import type { UpstreamOptions } from '../upstream/upstream-client.ts';

/** The options of the command line. */
export interface CommandLineOptions {
  /** 0 lets the system choose a free port. */
  readonly port: number;
  /** The server also listens on loopback. `localhost` means both of its addresses, 127.0.0.1 and ::1. */
  readonly host: string;
  readonly openBrowser: 'never' | WhenToOpen;
  /** Whether to start a browser without a window as the tab that serves. */
  readonly isHeadless: boolean;
  /** Where the page runs its model. By default the page chooses. */
  readonly backend?: 'webgpu' | 'wasm' | undefined;
  /** Origins of other pages that may send requests. */
  readonly allowedOrigins: readonly string[];
  /** Whether clients may choose the `priority` of their requests. */
  readonly allowsPriority: boolean;
  /** How long running requests may go on after the first Ctrl+C, in ms. */
  readonly drainMs: number;
  readonly logLevel: LogLevel;
  /** Origins that the page may fetch models from: a hub, and the origins that it redirects to. Empty for huggingface.co. */
  readonly hub: readonly string[];
  /** An OpenAI-compatible server that generates instead of a model in the tab. */
  readonly upstream?: Omit<UpstreamOptions, 'apiKey'> | undefined;
  readonly help: boolean;
}

const DEFAULT_PORT = 8000;
const MAX_PORT = 65_535;

const DEFAULT_DRAIN_MS = 10_000;

/** The longest that a timer can wait. */
const MAX_DRAIN_MS = 2 ** 31 - 1;

export const USAGE = `Usage: npx tabserve [options], or npm start -- [options] in a checkout
  --port N              port to listen on (default ${DEFAULT_PORT}; 0 = any free one)
  --host NAME           address to listen on as well as on localhost, where the page is (default localhost alone)
  --headless            start a browser without a window as the tab that serves; it ends with this
  --backend NAME        run the model on webgpu or wasm in the page that this opens (default the best that works)
  --open                open the page in your browser, also beside --headless (default where there is a screen and no --headless)
  --no-open             do not open a browser
  --allow-origin URL    let pages of this origin ask; again for each
  --hub URL             fetch models from this hub instead of huggingface.co, on every page of this server; again for each host
                        that it redirects to
  --upstream URL        let this OpenAI-compatible server (vLLM, Ray Serve LLM) generate, instead of a model in the tab;
                        its key, if any, in the environment variable TABSERVE_UPSTREAM_API_KEY
  --upstream-model ID   which of its models (default the first that it names)
  --allow-priority      let clients choose the priority of their requests (default: all have priority 0)
  --drain-ms N          let running requests go on for this long after Ctrl+C (default ${DEFAULT_DRAIN_MS}; 0 = end them at once);
                        a second Ctrl+C stops at once
  --log LEVEL           a line of JSON for each request: all (default), errors or off
  --help                print this`;

/** @throws BridgeError for invalid arguments. */
export function parseOptions(args: readonly string[]): CommandLineOptions {
  const { values } = parseStrictly(args);
  // An empty name would mean all interfaces.
  if (values.host === '')
    throw new BridgeError('INVALID_ARGUMENT', 'Expected `--host` to be a name or an address, got nothing');
  const mayOpen = !values['no-open'] && (values.open || !values.headless);
  const whenToOpen = values.open ? 'always' : 'with-screen';
  return {
    port: parseInteger('port', values.port, MAX_PORT),
    host: values.host,
    openBrowser: mayOpen ? whenToOpen : 'never',
    isHeadless: values.headless,
    allowedOrigins: values['allow-origin'].map((text) => parseOrigin('allow-origin', 'an origin', text)),
    allowsPriority: values['allow-priority'],
    drainMs: parseInteger('drain-ms', values['drain-ms'], MAX_DRAIN_MS),
    logLevel: parseChoice('log', `one of ${LOG_LEVELS.join(', ')}`, LOG_LEVELS, values.log),
    hub: values.hub.map((text) => parseOrigin('hub', 'the address of a hub', text)),
    backend: parseBackend(values.backend, values.upstream),
    upstream: parseUpstream(values.upstream, values['upstream-model']),
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
        backend: { type: 'string' },
        hub: { type: 'string', multiple: true, default: [] },
        upstream: { type: 'string' },
        'upstream-model': { type: 'string' },
        headless: { type: 'boolean', default: false },
        open: { type: 'boolean', default: false },
        'no-open': { type: 'boolean', default: false },
        'allow-origin': { type: 'string', multiple: true, default: [] },
        'allow-priority': { type: 'boolean', default: false },
        'drain-ms': { type: 'string', default: String(DEFAULT_DRAIN_MS) },
        log: { type: 'string', default: 'all' },
        help: { type: 'boolean', default: false },
      },
    });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new BridgeError('INVALID_ARGUMENT', `${reason}\n${USAGE}`, error);
  }
}

function parseInteger(option: string, text: string, max: number): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (value <= max) return value;
  throw BridgeError.invalid(option, `an integer from 0 to ${max}`, text);
}

const BACKENDS = ['webgpu', 'wasm'] as const;

function parseBackend(text: string | undefined, upstream: string | undefined): CommandLineOptions['backend'] {
  if (text === undefined) return undefined;
  const backend = parseChoice('backend', BACKENDS.join(' or '), BACKENDS, text);
  if (upstream === undefined) return backend;
  const message =
    'Expected `--backend` without `--upstream`, which runs the model elsewhere: leave out one of them.';
  throw new BridgeError('INVALID_ARGUMENT', message);
}

function parseUpstream(text: string | undefined, model: string | undefined): CommandLineOptions['upstream'] {
  if (text !== undefined) return { url: parseUpstreamUrl(text), model };
  if (model === undefined) return undefined;
  const message =
    'Expected `--upstream-model` to come with `--upstream`, which names the server of that model.';
  throw new BridgeError('INVALID_ARGUMENT', message);
}

/** An address as OpenAI's clients take it, with or without `/v1` at its end. */
function parseUpstreamUrl(text: string): string {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol)) {
    const expected = 'the address of an OpenAI-compatible server, such as http://gpu-machine:8000';
    throw BridgeError.invalid('upstream', expected, text);
  }
  if (url.username || url.password) {
    const expected = 'an address without a password: put the key into TABSERVE_UPSTREAM_API_KEY';
    throw BridgeError.invalid('upstream', expected, `${url.protocol}//…@${url.host}`);
  }
  if (url.search || url.hash) throw BridgeError.invalid('upstream', 'an address without a query', text);
  return url.origin + url.pathname.replace(/\/+$/, '').replace(/\/v1$/, '');
}

function parseChoice<Choice extends string>(
  option: string,
  expected: string,
  choices: readonly Choice[],
  text: string,
): Choice {
  const choice = choices.find((known) => known === text);
  if (choice !== undefined) return choice;
  throw BridgeError.invalid(option, expected, text);
}

function parseOrigin(option: string, expected: string, text: string): string {
  const url = URL.parse(text);
  if (url && /^https?:$/.test(url.protocol)) return url.origin;
  throw BridgeError.invalid(option, expected, text);
}
