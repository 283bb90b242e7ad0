import { systemClock, type Clock } from '../../../batching/base/clock.ts';
import { ClosedError, RequestCancelledError, shown } from '../../../batching/base/errors.ts';
import { createGenerationMetrics, NO_GAUGES } from '../../../batching/metrics/generation-metrics.ts';
import { toPrometheusText } from '../../../batching/metrics/prometheus.ts';
import { MetricsRegistry } from '../../../batching/metrics/registry.ts';
import { EMBEDDER, RERANKER } from '../../../protocol/embedding.ts';
import { TEXT_GENERATOR } from '../../../protocol/generation.ts';
import { createWorkerId, type RequestId } from '../../../protocol/ids.ts';
import type { JobDefinition } from '../../../protocol/jobs.ts';
import type { EncoderInfo } from '../../../protocol/models.ts';
import { readServerModel, serverBackend } from '../../../protocol/openai/server-model.ts';
import { END_TYPES, type RequestUpdate, type SubmittedRequest } from '../../../protocol/requests.ts';
import { timeoutMsOf } from '../../../protocol/resolve-options.ts';
import { requestTimedOut } from '../../../protocol/errors/deployment-messages.ts';
import { notAtServer } from '../../../protocol/server-errors.ts';
import { StatsReporter } from '../../../protocol/stats-reporter.ts';
import { DEFAULT_POLICY, type WorkerStatus } from '../../../protocol/status.ts';
import { PROTOCOL_VERSION, type Unsigned } from '../../../protocol/wire.ts';
import { fromWireError, toWireError } from '../../../protocol/wire-errors.ts';
import type { WorkerMessage } from '../../../protocol/worker-messages.ts';
import type { Link, LinkListener, Outgoing } from '../link.ts';
import { isJobCall } from '../../../jobs/service/job-calls.ts';
import { ROWS_AT_SERVER } from '../../../jobs/row-rules.ts';
import type { ServerJobs } from './server-jobs.ts';
import { callDeployment, requireJson } from './deployment-request.ts';
import { embed, rerank } from './encoder-requests.ts';
import { connectionsTo, Gate } from './gate.ts';
import { answerTokenCall, isTokenCall, refusalOf } from './server-calls.ts';
import { ServerHttp, type ServerAddress, toServerUrl } from './server-http.ts';
import { TextRequests, type Send } from './text-requests.ts';

export interface ServerLinkOptions extends ServerAddress {
  /** The model that generates. Left out, the first that the server names. */
  readonly model?: string | undefined;
  readonly embedder?: string | undefined;
  readonly reranker?: string | undefined;
  readonly clock?: Clock;
}

type Call = Extract<Outgoing, { readonly callId: number }>;

interface Turn {
  readonly deployment: string;
  readonly requests: readonly SubmittedRequest[];
  /** Rows of jobs wait behind all else. */
  readonly isBackground?: boolean;
}

interface Running {
  readonly ending: AbortController;
  cancelTimer?: () => void;
}

const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 15_000;

/** For the list of models, which costs a server nothing. */
const LIST_TIMEOUT_MS = 30_000;

/** Answers a client's messages as a worker does, by asking an OpenAI-compatible server. */
export class ServerLink implements Link {
  readonly isolationReason = '';
  readonly #options: ServerLinkOptions;
  readonly #listener: LinkListener;
  readonly #clock: Clock;
  readonly #http: ServerHttp;
  readonly #gate: Gate;
  readonly #workerId = createWorkerId();
  readonly #metrics = new MetricsRegistry();
  readonly #stats: StatsReporter;
  readonly #running = new Map<RequestId, Running>();
  readonly #closing = new AbortController();
  /** Resolves after the first attempt to ask for its model. */
  readonly #asked = Promise.withResolvers<void>();
  /** Turns that came before that. */
  #early: Turn[] = [];
  #status: WorkerStatus;
  #texts: TextRequests | undefined;
  #openingJobs: Promise<ServerJobs> | undefined;
  #jobs: ServerJobs | undefined;
  #cancelAttempt: (() => void) | undefined;

  constructor(options: ServerLinkOptions, listener: LinkListener) {
    const { clock = systemClock, url } = options;
    this.#options = options;
    this.#listener = listener;
    this.#clock = clock;
    this.#http = new ServerHttp(options);
    const { leader } = listener.tabNumbers;
    this.#status = {
      state: 'loading',
      knobs: { revision: 0, policy: DEFAULT_POLICY, deployments: [] },
      tabs: { tabs: [{ clientId: leader, number: 1 }], leader, last: 1 },
      backend: serverBackend(this.#http.shownUrl),
    };
    this.#gate = new Gate(connectionsTo(url));
    this.#stats = new StatsReporter(clock, createGenerationMetrics(this.#metrics, TEXT_GENERATOR), {
      gauges: () => this.#texts?.gauges ?? NO_GAUGES,
      send: (stats) => this.#say({ type: 'stats', stats }),
    });
    queueMicrotask(() => {
      if (this.#closing.signal.aborted) return;
      listener.onRole('leader');
      listener.onOpen();
      this.#asked.resolve(this.#attempt(FIRST_PAUSE_MS));
    });
  }

  post(message: Outgoing): void {
    if ('callId' in message) void this.#answer(message);
    else if (message.type === 'hello')
      this.#say({ type: 'welcome', status: this.#status, activity: [], batches: [] });
    else if (message.type === 'cancel')
      this.#end(message.requestId, RequestCancelledError.because(undefined));
    else if (message.type === 'submit') this.#submit({ ...message, requests: [message] });
    // There is no load to steer.
    else if (message.type === 'submit-all') this.#submit(message);
  }

  close(): void {
    this.#closing.abort();
    this.#cancelAttempt?.();
    this.#jobs?.close();
    for (const requestId of this.#running.keys())
      this.#end(requestId, RequestCancelledError.because(undefined));
  }

  #say(message: Unsigned<WorkerMessage>): void {
    if (this.#closing.signal.aborted) return;
    this.#listener.onMessage({ version: PROTOCOL_VERSION, workerId: this.#workerId, ...message });
  }

  /** After any failure, the server is asked again, after pauses that double: it may start, or get the model or the key. Until then, requests fail. */
  async #attempt(pauseMs: number): Promise<void> {
    const asking = new AbortController();
    const signal = AbortSignal.any([asking.signal, this.#closing.signal]);
    const cancelTimer = this.#clock.setTimer(LIST_TIMEOUT_MS, () =>
      asking.abort(new Error(`no answer in ${LIST_TIMEOUT_MS / 1000} s`)),
    );
    try {
      const list = await this.#http.text('/v1/models', signal);
      const model = readServerModel(this.#http.shownUrl, this.#options.model, list);
      this.#texts = new TextRequests({
        http: this.#http,
        model,
        gate: this.#gate,
        clock: this.#clock,
        stats: this.#stats,
        onUpdates: (updates) => this.#update(updates),
      });
      const { error: _over, ...status } = this.#status;
      const encoders = this.#encoders;
      this.#setStatus({
        ...status,
        state: 'ready',
        model: model.modelInfo,
        ...(encoders.length > 0 && { encoders }),
      });
    } catch (cause) {
      if (this.#closing.signal.aborted) return;
      this.#setStatus({ ...this.#status, state: 'failed', error: toWireError(cause) });
      this.#cancelAttempt = this.#clock.setTimer(pauseMs, () => {
        void this.#attempt(Math.min(pauseMs * 2, LONGEST_PAUSE_MS));
      });
    } finally {
      cancelTimer();
    }
    const early = this.#early;
    this.#early = [];
    for (const turn of early) this.#start(turn);
  }

  /** Those that `connect` names. A server tells nothing of their sizes. */
  get #encoders(): readonly EncoderInfo[] {
    const sizes = { numParameters: 0, maxTokens: 0, vocabSize: 0, dimensions: 0, prompts: [] };
    const backend = serverBackend(this.#http.shownUrl);
    return ([EMBEDDER, RERANKER] as const).flatMap((deployment) => {
      const id = this.#options[deployment];
      return id === undefined ? [] : { deployment, id, ...sizes, backend };
    });
  }

  #setStatus(status: WorkerStatus): void {
    this.#status = status;
    this.#say({ type: 'status', status });
    this.#jobs?.schedule();
  }

  #submit(turn: Turn): void {
    for (const request of turn.requests) this.#note(turn.deployment, request);
    if (this.#status.state === 'loading') this.#early.push(turn);
    else this.#start(turn);
  }

  #note(deployment: string, { requestId, options, elapsedMs }: SubmittedRequest): void {
    const timeoutMs = deployment === TEXT_GENERATOR ? timeoutMsOf(options) : undefined;
    const running: Running = { ending: new AbortController() };
    if (timeoutMs !== undefined)
      // Always asynchronous, even if the time is already up.
      running.cancelTimer = this.#clock.setTimer(Math.max(0, timeoutMs - elapsedMs), () =>
        this.#end(requestId, requestTimedOut(timeoutMs)),
      );
    this.#running.set(requestId, running);
  }

  /** All requests of a turn are checked before the first is sent. */
  #start({ deployment, requests, isBackground = false }: Turn): void {
    const wanted = requests.filter(({ requestId }) => this.#running.has(requestId));
    try {
      const sends = wanted.map(
        (request) => [request, this.#prepare(deployment, request, isBackground)] as const,
      );
      if (deployment === TEXT_GENERATOR)
        this.#update(wanted.map(({ requestId }) => ({ type: 'accepted', requestId })));
      for (const [{ requestId }, send] of sends) {
        const running = this.#running.get(requestId);
        if (running) void send(running.ending.signal);
      }
    } catch (error) {
      if (deployment === TEXT_GENERATOR)
        for (const _ of wanted) this.#stats.recordRejected(toWireError(error).code);
      for (const { requestId } of wanted) this.#fail(requestId, error);
    }
  }

  /** @throws the error that refuses the request. */
  #prepare(deployment: string, request: SubmittedRequest, isBackground: boolean): Send {
    const texts = this.#serving;
    if (deployment === TEXT_GENERATOR) return texts.prepare(request, isBackground);
    const { requestId, input, options } = request;
    const ask = this.#answererOf(deployment, texts, input, options);
    return async (signal) => {
      try {
        const result = await ask(signal);
        if (!signal.aborted) this.#update([{ type: 'answered', requestId, result }]);
      } catch (error) {
        if (!signal.aborted) this.#fail(requestId, error);
      }
    };
  }

  /** @throws the error that refuses the request. */
  #answererOf(
    deployment: string,
    { model: server }: TextRequests,
    input: unknown,
    options: unknown,
  ): (signal: AbortSignal) => Promise<unknown> {
    const http = this.#http;
    if (deployment === EMBEDDER || deployment === RERANKER) {
      const encode = deployment === EMBEDDER ? embed : rerank;
      const asked = { http, server, model: this.#options[deployment], input, options };
      return (signal) => encode({ ...asked, signal });
    }
    if (!server.isTabserve)
      throw notAtServer(
        http.shownUrl,
        `The deployment \`${shown(deployment)}\` is not called at`,
        'connect to another Tabserve, or to a worker: connect({ worker })',
      );
    requireJson('input', input);
    return (signal) => this.#gate.run(() => callDeployment({ http, deployment, input, options, signal }));
  }

  /** @throws the reason why the server can't be asked. */
  get #serving(): TextRequests {
    const { error } = this.#status;
    if (this.#texts) return this.#texts;
    throw error ? fromWireError(error) : ClosedError.ofClient();
  }

  /** Ends a request here and at the server. Does nothing if it has ended already. */
  #end(requestId: RequestId, error: Error): void {
    const running = this.#running.get(requestId);
    if (!running) return;
    this.#texts?.fail(requestId, error);
    this.#fail(requestId, error);
    running.ending.abort();
  }

  #fail(requestId: RequestId, error: unknown): void {
    if (this.#running.has(requestId))
      this.#update([{ type: 'failed', requestId, error: toWireError(error) }]);
  }

  #update(updates: readonly RequestUpdate[]): void {
    for (const { type, requestId } of updates) {
      if (!END_TYPES.has(type)) continue;
      this.#running.get(requestId)?.cancelTimer?.();
      this.#running.delete(requestId);
    }
    this.#jobs?.receive(updates);
    this.#say({ type: 'updates', updates });
  }

  async #answer(message: Call): Promise<void> {
    const { callId } = message;
    try {
      this.#say({ type: 'call-answered', callId, result: await this.#resultOf(message) });
    } catch (error) {
      this.#say({ type: 'call-refused', callId, error: toWireError(error) });
    }
  }

  async #resultOf(call: Call): Promise<unknown> {
    if (call.type === 'metrics') return toPrometheusText(this.#metrics.snapshot());
    if (call.type === 'create-job') await this.#checkJob(call.job);
    if (isJobCall(call)) return (await this.#openJobs()).answer(call);
    if (!isTokenCall(call)) throw refusalOf(call, this.#http.shownUrl);
    await this.#asked.promise;
    return answerTokenCall(call, this.#http, this.#serving.model);
  }

  /** @throws ServerError for what each row would be refused for. */
  async #checkJob({ options }: JobDefinition): Promise<void> {
    await this.#asked.promise;
    this.#texts?.checkLogprobs(options['logprobs']);
  }

  /** The jobs of this client. Their code is imported at the first call. */
  #openJobs(): Promise<ServerJobs> {
    this.#openingJobs ??= this.#importJobs();
    this.#openingJobs.catch(() => (this.#openingJobs = undefined));
    return this.#openingJobs;
  }

  async #importJobs(): Promise<ServerJobs> {
    const { ServerJobs: Opened } = await import('./server-jobs.ts');
    this.#jobs = await Opened.open({
      status: () => this.#status,
      publish: (jobs, deletedIds) => this.#say({ type: 'jobs', jobs, deletedIds }),
      server: {
        numRowsFor: () => ROWS_AT_SERVER,
        submit: (requestId, { deployment, input, options }) =>
          this.#submit({
            deployment,
            requests: [{ requestId, input, options, elapsedMs: 0 }],
            isBackground: true,
          }),
        cancel: (requestId) => this.#end(requestId, RequestCancelledError.because(undefined)),
        tokenTexts: () => Promise.resolve([]),
      },
    });
    return this.#jobs;
  }
}

/** @throws InvalidOptionError for an address that is none. */
export function openServerLink(
  { server, ...options }: Omit<ServerLinkOptions, 'url'> & { readonly server: string },
  listener: LinkListener,
): Link {
  return new ServerLink({ ...options, url: toServerUrl(server) }, listener);
}
