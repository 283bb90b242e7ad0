import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { systemClock, type Clock } from '../src/batching/base/clock.ts';
import { parseOptions } from '../src/batching/base/parse-options.ts';
import {
  finiteIn,
  integerIn,
  isBoolean,
  requireClock,
  requireFunction,
  type Validators,
} from '../src/batching/base/validate.ts';
import { KNOBS } from '../src/batching/generation/policy.ts';
import { serverUrlOf } from '../src/client/links/server/server-http.ts';
import {
  areOrigins,
  isFunction,
  isHost,
  isText,
  optionsOf,
  requireMethod,
  valueThat,
} from './base/check-arguments.ts';
import type { Optional } from '../src/batching/base/records.ts';
import type { Caller } from '../src/protocol/requests.ts';
import { TabserveClient } from '../src/client/client.ts';
import type { OpenLink } from '../src/client/links/link.ts';
import { unpackOrdered } from '../src/protocol/wire-text.ts';
import { ServerLink } from '../src/client/links/server/server-link.ts';
import { createClientId } from '../src/protocol/ids.ts';
import { untilAborted } from '../src/platform/until-aborted.ts';
import {
  BRIDGE_FOLDER,
  BRIDGE_META,
  HUB_META,
  LOCAL_MODEL_META,
  SERVER_META,
  SOCKET_PATH,
  TOKEN_PATH,
} from '../src/protocol/bridge-names.ts';
import { LazyBatchStore } from './batches/batch-store.ts';
import type { LogEntry } from './http/access-log.ts';
import { callerOf, WorkLimit } from './http/caller.ts';
import { Exchange, type ClientRights } from './http/exchange.ts';
import { allowOrigin, answerPreflight, Guard, isNavigation, namesTwoHosts } from './http/guard.ts';
import { HttpError } from '../src/protocol/openai/http-error.ts';
import { HttpMetrics } from './http/http-metrics.ts';
import {
  nothingAt,
  findRoute,
  getRoute,
  handleOf,
  invalidUrl,
  urlOf,
  type Route,
  type RouteMatch,
} from './http/router.ts';
import { refuseConnection } from './http/refuse-connection.ts';
import { rowsOfTab, rowsOfTarget } from './routes/ask-rows.ts';
import { batchRoutes } from './routes/batches.ts';
import { messageRoutes } from './routes/anthropic/message-routes.ts';
import { adderRoute, deploymentRoute, housePriceRoute } from './routes/deployments.ts';
import { encoderRoutes } from './routes/encoder-routes.ts';
import { fileRoutes } from './routes/files.ts';
import { generateRoute } from './routes/generate.ts';
import { chatCompletionsRoute, completionsRoute, responsesRoute } from './routes/openai/generation-routes.ts';
import { ollamaRoutes } from './routes/ollama/ollama-routes.ts';
import { localModelRoutes } from './routes/local-models.ts';
import { policyRoute } from './routes/policy.ts';
import { PLAIN_TEXT, serviceRoutes } from './routes/service.ts';
import { tokenRoutes } from './routes/tokens.ts';
import { describeInLog, toHttpError } from './http/to-http-error.ts';
import type { CommandLineOptions } from './cli/options.ts';
import type { LocalModel } from './local-models/local-model.ts';
import type { OwnBrowser } from './tabs/own-browser.ts';
import { TabLink, TabSockets } from './tabs/tab-link.ts';
import type { TabLinkOptions } from './tabs/tab-link-options.ts';
import { probeTarget, type ForwardTarget } from './forward/fetch-target.ts';
import { forwardRoutes } from './forward/forward.ts';
import { stopping } from './http/http-errors.ts';

/** How a bridge answers, and which clients. */
export interface BridgeOptions
  extends
    Pick<CommandLineOptions, 'host'>,
    Optional<
      Pick<
        CommandLineOptions,
        | 'allowedOrigins'
        | 'allowsPriority'
        | 'allowsAnyModel'
        | 'allowsAdmin'
        | 'hub'
        | 'knobs'
        | 'batchFolder'
        | 'maxUploadBytes'
      >
    >,
    Pick<TabLinkOptions, 'url'>,
    Optional<Pick<TabLinkOptions, 'graceMs'>> {
  /** Generates instead of a model in the tab: the page is connected to it, and requests of OpenAI's API are forwarded to it. */
  readonly forwardTo?: ForwardTarget | undefined;
  /**
   * Models on this machine's disk that the page may load.
   *
   * @internal
   */
  readonly localModels?: readonly LocalModel[] | undefined;
  /**
   * Whether the server opens the page itself.
   *
   * @internal
   */
  readonly isHeadless?: boolean | undefined;
  /** Gets each answered request. */
  readonly log?: ((entry: LogEntry) => void) | undefined;
}

const GRACE_MS = 10_000;

/** As "Expected `request` to be …". */
const REQUEST = "an IncomingMessage of Node's";

/** At most the longest that a timer can wait. */
const isTimer = finiteIn({ from: 0, to: 2 ** 31 - 1 });

/** OpenAI's. */
const MAX_UPLOAD_BYTES = 512 * 2 ** 20;

/** How long the last answers may take to reach their clients when the server stops. */
const FLUSH_MS = 2000;

/** No answer is a page. */
const API_HEADERS: Readonly<Record<string, string>> = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
};

const OPTIONS: Validators<BridgeOptions> = {
  host: isHost,
  url: isFunction,
  allowedOrigins: areOrigins,
  allowsPriority: isBoolean,
  allowsAnyModel: isBoolean,
  allowsAdmin: isBoolean,
  graceMs: isTimer,
  hub: areOrigins,
  knobs: valueThat('an object of knobs', (value) => parseOptions('knobs', KNOBS, value) !== undefined),
  batchFolder: isText,
  maxUploadBytes: integerIn({ from: 0 }),
  forwardTo: valueThat(
    'an object with the `url` of an OpenAI-compatible server, such as http://gpu-machine:8000, without a query or a password',
    (value) => serverUrlOf(Object(value).url) !== undefined,
  ),
  localModels: valueThat('a list of models', Array.isArray),
  isHeadless: isBoolean,
  log: isFunction,
};

/** Answers HTTP requests through the open tab. Can be mounted in any server. */
export class Bridge {
  /** The bridge's own client: it reaches the worker of the open tab, or the server that requests are forwarded to. */
  readonly serve: TabserveClient;
  /** Elements for the head of the page: with them it finds this bridge. */
  readonly headElements: string;
  readonly #guard: Guard;
  readonly #log: (entry: LogEntry) => void;
  readonly #tabs: TabLink;
  readonly #sockets = new TabSockets((socket, owner) => this.#tabs.attach(socket, owner));
  readonly #metrics = new HttpMetrics();
  readonly #routes: readonly Route[];
  readonly #rights: ClientRights;
  /** Requests that are not yet answered, except those of the page that serves. */
  readonly #exchanges = new Set<Exchange>();
  #onIdle: () => void = () => undefined;
  /** Set once the server stops: the answer to new requests. */
  #refusal: HttpError | undefined;
  readonly #workLimit = new WorkLimit();
  /** Undefined without a folder for them. */
  readonly #batches: LazyBatchStore | undefined;

  /** @throws An error with the code `INVALID_OPTION` or `UNKNOWN_OPTION`. */
  constructor(options: BridgeOptions) {
    const {
      host,
      url,
      allowedOrigins = [],
      allowsPriority = false,
      allowsAnyModel = false,
      allowsAdmin = false,
      graceMs = GRACE_MS,
      hub: [hub] = [],
      knobs = {},
      batchFolder,
      maxUploadBytes = MAX_UPLOAD_BYTES,
      forwardTo: target,
      localModels = [],
      isHeadless = false,
      log = () => undefined,
    } = optionsOf('new Bridge', OPTIONS, ['host', 'url'], options);
    this.headElements = [
      `<meta name="${BRIDGE_META}" content="${BRIDGE_FOLDER}" />`,
      ...(hub === undefined ? [] : [`<meta name="${HUB_META}" content="${hub}" />`]),
      ...localModels.map(
        ({ id, revision }) => `<meta name="${LOCAL_MODEL_META}" content="${id}@${revision}" />`,
      ),
      ...(target ? [metaOfTarget(target)] : []),
    ].join('\n    ');
    this.#guard = new Guard({ host, allowedOrigins, allowsAdmin });
    this.#log = log;
    this.#rights = { allowsPriority, allowsAnyModel };
    this.#tabs = new TabLink({ url, graceMs, hub, knobs, isHeadless });
    this.serve = target ? clientOf(target) : this.#tabs.serve;
    const rows = target ? rowsOfTarget(target) : rowsOfTab(this.serve, this.#rights);
    this.#batches = batchFolder === undefined ? undefined : new LazyBatchStore(batchFolder, rows);
    const sendToken = (exchange: Exchange): void => exchange.send(200, PLAIN_TEXT, this.#sockets.token);
    this.#routes = [
      ...(target ? forwardRoutes(target) : []),
      ...(this.#batches ? [...fileRoutes(this.#batches, maxUploadBytes), ...batchRoutes(this.#batches)] : []),
      generateRoute(this.serve),
      adderRoute(this.serve),
      housePriceRoute(this.serve),
      deploymentRoute(this.serve),
      completionsRoute(this.serve),
      chatCompletionsRoute(this.serve),
      responsesRoute(this.serve),
      ...messageRoutes(this.serve),
      ...ollamaRoutes(this.serve),
      ...encoderRoutes(this.serve),
      ...tokenRoutes(this.serve),
      policyRoute(this.serve),
      ...serviceRoutes({
        serve: this.serve,
        isServed: () => this.isServed && !this.#refusal,
        probe: target && (() => probeTarget(target)),
        ownMetrics: () => this.#metrics.toText(),
      }),
      ...localModelRoutes(localModels),
      { ...getRoute(BRIDGE_FOLDER + TOKEN_PATH, sendToken), isPageOnly: true },
    ];
  }

  /**
   * Marks the bridge's own browser, whose knobs are restored after a crash.
   *
   * @internal
   */
  get ownBrowserCookie(): OwnBrowser['cookie'] {
    return this.#sockets.ownBrowser.cookie;
  }

  /**
   * Whether a tab is connected, or there is a server to ask instead.
   *
   * @internal
   */
  get isServed(): boolean {
    return this.serve !== this.#tabs.serve || this.#tabs.isServed;
  }

  /** Answers a request for the bridge and refuses an invalid one. Requests for the page's files go to `next`. */
  handle(request: IncomingMessage, response: ServerResponse, next: () => void): void {
    requireMethod('request', request, 'on', REQUEST, 'handle');
    requireMethod('response', response, 'setHeader', "a ServerResponse of Node's", 'handle');
    requireFunction('next', next, 'handle');
    const url = urlOf(request);
    const match = url && findRoute(this.#routes, request, url);
    if (url && !match && this.#isForPage(request)) next();
    else void this.#answer(request, response, url, match);
  }

  /**
   * The error for a path that neither the bridge nor its server has.
   *
   * @internal
   */
  nothingAt(pathname: string): HttpError {
    return nothingAt(pathname, this.#routes);
  }

  /** Takes the worker's WebSocket; false if the request is for another path or has two Host headers. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): boolean {
    requireMethod('request', request, 'on', REQUEST, 'upgrade');
    requireMethod('socket', socket, 'write', "a stream of Node's", 'upgrade');
    requireMethod('head', head, 'subarray', 'a Buffer', 'upgrade');
    if (urlOf(request)?.pathname !== BRIDGE_FOLDER + SOCKET_PATH || namesTwoHosts(request)) return false;
    if (this.#mayServe(request)) this.#sockets.accept(request, socket, head);
    else refuseConnection(socket, 403);
    return true;
  }

  /**
   * Refuses new work. Running requests may go on for `graceMs`; then a stream ends with an error event, any other request with
   * 503. Resolves when the last answer was sent, or its client took too long.
   */
  async drain(graceMs: number, clock: Clock = systemClock): Promise<void> {
    isTimer('graceMs', graceMs);
    requireClock('clock', clock);
    const retryAfterSeconds = Math.max(1, Math.ceil(graceMs / 1000));
    this.#refusal ??= stopping(retryAfterSeconds);
    for (const { response } of this.#exchanges) if (!response.headersSent) closeAfter(response);
    const batchesStopped = this.#batches?.stop();
    await this.#idleWithin(graceMs, clock);
    for (const exchange of this.#exchanges) exchange.abort(this.#refusal);
    await this.#idleWithin(FLUSH_MS, clock);
    await batchesStopped;
  }

  /** Idempotent. Outstanding requests fail. Resolves when the folder of batches may be opened again. */
  async close(): Promise<void> {
    this.serve.close();
    this.#tabs.serve.close();
    await this.#batches?.stop();
  }

  /** Links of any origin may open the page; its other files are for the page only. */
  #isForPage(request: IncomingMessage): boolean {
    try {
      this.#guard.checkHost(request);
      if (!isNavigation(request)) this.#guard.checkOrigin(request);
      return request.method === 'GET' || request.method === 'HEAD';
    } catch {
      return false;
    }
  }

  /** Every page sends an Origin with a WebSocket. */
  #mayServe(request: IncomingMessage): boolean {
    try {
      this.#guard.checkHost(request);
      this.#guard.checkOwnPage(request);
      return request.headers.origin !== undefined && this.#sockets.isAuthorised(request);
    } catch {
      return false;
    }
  }

  async #answer(
    request: IncomingMessage,
    response: ServerResponse,
    url: URL | undefined,
    match: RouteMatch | undefined,
  ): Promise<void> {
    const startedAtMs = systemClock.now();
    for (const [name, value] of Object.entries(API_HEADERS)) response.setHeader(name, value);
    if (this.#refusal) closeAfter(response);
    const given = url ?? new URL('http://localhost/');
    const exchange = new Exchange(request, response, given, match?.rest ?? '', this.#rights);
    if (!match?.route.isPageOnly) this.#exchanges.add(exchange);
    this.#metrics.begin();
    let reason: unknown;
    response.once('close', () => {
      this.#exchanges.delete(exchange);
      if (this.#exchanges.size === 0) this.#onIdle();
      const { requestId } = exchange;
      const { method = '' } = request;
      const status = statusOf(response, reason);
      const durationMs = systemClock.now() - startedAtMs;
      this.#metrics.end(match?.route.path ?? 'none', { method, status, durationMs });
      // The page fetches a local model in many parts.
      if (match?.route.isPageOnly && status < 400) return;
      this.#log({
        time: new Date().toISOString(),
        requestId,
        method,
        path: exchange.url.pathname,
        status,
        durationMs: Math.round(durationMs),
        ...(reason instanceof Error && { error: describeInLog(reason) }),
      });
    });
    reason = await exchange.run((running) => this.#serveRoute(running, url, match?.route));
  }

  async #serveRoute(exchange: Exchange, url: URL | undefined, route: Route | undefined): Promise<void> {
    const { request } = exchange;
    this.#guard.checkHost(request);
    if (route?.isPageOnly) this.#guard.checkOwnPage(request);
    else this.#guard.checkOrigin(request);
    if (route?.isAdmin) this.#guard.checkAdmin(request);
    this.#guard.checkReferrer(request);
    const origin = this.#guard.allowedOriginOf(request);
    if (origin !== undefined) allowOrigin(exchange, origin);
    if (!url) throw invalidUrl(request);
    if (!route) throw this.nothingAt(url.pathname);
    if (origin !== undefined && answerPreflight(exchange)) return;
    const handle = handleOf(route, request.method);
    const answer = async (): Promise<void> => handle(exchange);
    const answerUntilAborted = (): Promise<void> => untilAborted(answer(), exchange.signal);
    await (route.isWork ? this.#work(callerOf(request), answerUntilAborted) : answerUntilAborted());
  }

  async #work(caller: Caller, answer: () => Promise<void>): Promise<void> {
    if (this.#refusal) throw this.#refusal;
    await this.#workLimit.run(caller, answer);
  }

  async #idleWithin(ms: number, clock: Clock): Promise<void> {
    if (this.#exchanges.size === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const cancelTimer = clock.setTimer(ms, resolve);
    this.#onIdle = resolve;
    await promise;
    cancelTimer();
  }
}

/** Asks the server without any tab: routes that are not OpenAI's own are answered by it too. */
function clientOf(target: ForwardTarget): TabserveClient {
  const open: OpenLink = (listener) => {
    const link = new ServerLink(target, listener);
    return {
      isolationReason: link.isolationReason,
      post: (message) => link.post(unpackOrdered(message)),
      close: () => link.close(),
    };
  };
  return new TabserveClient(createClientId(), open);
}

/** Connects the page to the server, under the address of its own. */
function metaOfTarget({ url, model }: ForwardTarget): string {
  const named = model === undefined ? '' : ` data-model="${escapeAttribute(model)}"`;
  return `<meta name="${SERVER_META}" content="${escapeAttribute(url)}"${named} />`;
}

function escapeAttribute(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
}

/** The client's next request opens a new connection, which may reach another server. */
function closeAfter(response: ServerResponse): void {
  response.setHeader('Connection', 'close');
}

/** 499, as in nginx, if the client left before it had its answer and nothing failed. */
function statusOf({ writableFinished, statusCode }: ServerResponse, reason: unknown): number {
  if (writableFinished) return statusCode;
  return reason === undefined ? 499 : toHttpError(reason).status;
}
