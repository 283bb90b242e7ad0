import { systemClock, type Clock } from '../../batching/base/clock.ts';
import { InvalidOptionError } from '../../batching/base/errors.ts';
import { PROTOCOL_VERSION } from '../../protocol/wire.ts';
import type { FaultKind } from '../../protocol/recovery.ts';
import {
  type HostMessage,
  type HostPing,
  type WorkerInit,
  parseHostMessage,
} from '../../protocol/host-messages.ts';
import type { RequestId } from '../../protocol/ids.ts';
import { leftWorker } from './left-worker.ts';
import { RecoveryPlan, type EndedWorker } from './recovery-plan.ts';
import { SilenceWatch } from './silence-watch.ts';
import type { Locks } from '../../protocol/locks.ts';
import { WorkerFailedError, WorkerSilentError } from '../../protocol/errors/worker.ts';
import { namesOf } from '../../protocol/names.ts';
import { WorkerScript } from './worker-script.ts';

/** A worker cannot answer while it converts a large model, or computes the first pass on a busy CPU. */
const PATIENCE_AT_START_MS = 300_000;
/** Browsers don't report a script that ends without `startWorker`, and a slow network delays any script. */
const PATIENCE_BEFORE_START_MS = 30_000;

/** The part of `Worker` that the tab uses. */
export interface WorkerPort {
  postMessage(message: unknown): void;
  addEventListener(type: 'message', listener: (event: { readonly data: unknown }) => void): void;
  addEventListener(type: 'error', listener: (event: { readonly message?: string }) => void): void;
  terminate(): void;
}

export interface WorkerHostOptions {
  readonly createWorker: () => WorkerPort;
  readonly init: Omit<WorkerInit, 'version' | 'type' | 'lifeLock' | 'past' | 'tabs'>;
  readonly tabs: () => WorkerInit['tabs'];
  /** Gets messages of the worker that are not for its host. A shared worker sends these over channels instead. */
  readonly onMessage?: (data: unknown) => void;
  /** Called after several workers failed in a row. No further one is started. */
  readonly onGiveUp: (error: Error) => void;
  /** Show the end of a worker that could not report it itself. */
  readonly locks?: Locks;
  /** The `window`, which reports violations of the page's Content-Security-Policy. */
  readonly page?: Pick<EventTarget, 'addEventListener'>;
  readonly clock?: Clock;
}

/** Makes a link's workers. */
export type WorkerSource = Pick<WorkerHostOptions, 'createWorker'> &
  Omit<WorkerHostOptions['init'], 'isShared'>;

/** Keeps a worker running in this tab: replaces one that fails, hangs or ends, as the recovery plan says. */
export class WorkerHost {
  readonly #options: WorkerHostOptions;
  readonly #clock: Clock;
  #plan: RecoveryPlan;
  #hosted: HostedWorker | undefined;
  /** Set while a start is due. */
  #cancelStart: (() => void) | undefined;
  /** The directive of the page's Content-Security-Policy that has blocked a worker's script. */
  #directive: string | undefined;
  readonly #script: WorkerScript<WorkerPort>;

  constructor(options: WorkerHostOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#script = new WorkerScript(options.createWorker);
    this.#plan = new RecoveryPlan(options.init.backend);
    // The report may come after the worker's error.
    options.page?.addEventListener('securitypolicyviolation', (event) => {
      if ('effectiveDirective' in event && event.effectiveDirective === 'worker-src')
        this.#directive = event.effectiveDirective;
    });
  }

  /** Starts a worker at the top of the ladder. */
  start(): void {
    this.#plan = new RecoveryPlan(this.#options.init.backend);
    this.#launch();
  }

  post(message: unknown): void {
    this.#hosted?.port.postMessage(message);
  }

  /** The start of a worker that its tab ends is no broken one. */
  stop(): void {
    leftWorker(this.#options.init.app, this.#hosted?.lifeLock);
    this.#drop();
  }

  #drop(): void {
    this.#cancelStart?.();
    this.#cancelStart = undefined;
    this.#hosted?.watch.stop();
    this.#hosted?.stopped.abort();
    this.#hosted?.port.terminate();
    this.#hosted = undefined;
  }

  #launch(): void {
    const { init, locks } = this.#options;
    const port = this.#create();
    if (!port) return;
    const hosted: HostedWorker = {
      port,
      lifeLock: locks && namesOf(init.app).createLifeName(),
      state: 'silent',
      hasWork: false,
      stalledIds: [],
      readId: undefined,
      stopped: new AbortController(),
      watch: new SilenceWatch({
        clock: this.#clock,
        ask() {
          // Pings would queue up at a script that does not run yet.
          if (hosted.state === 'silent') return;
          port.postMessage({ version: PROTOCOL_VERSION, type: 'ping' } satisfies HostPing);
        },
        onSilence: (ms) => this.#endSilent(hosted, Math.round(ms / 1000)),
      }),
    };
    this.#hosted = hosted;
    this.#listenTo(hosted);
    this.#sendInit(hosted);
    hosted.watch.start(PATIENCE_BEFORE_START_MS);
  }

  #listenTo(hosted: HostedWorker): void {
    hosted.port.addEventListener('message', ({ data }) => {
      if (hosted !== this.#hosted) return;
      const message = parseHostMessage(data);
      if (message) this.#receive(hosted, message);
      else this.#options.onMessage?.(data);
    });
    hosted.port.addEventListener('error', ({ message }) => {
      // Browsers send no message when the script could not be loaded.
      if (message === undefined) hosted.state = 'missing';
      this.#replace(hosted, 'worker-error', message ?? 'its script could not be loaded');
    });
  }

  #sendInit({ port, lifeLock }: HostedWorker): void {
    const left = leftWorker(this.#options.init.app);
    port.postMessage({
      version: PROTOCOL_VERSION,
      type: 'init',
      ...this.#options.init,
      ...(lifeLock && { lifeLock }),
      past: { ...this.#plan.past, ...(left && { left }) },
      tabs: this.#options.tabs(),
    } satisfies WorkerInit);
  }

  /** Undefined if the browser refuses one, for instance because of a policy of the page, or the app's function returns none. */
  #create(): WorkerPort | undefined {
    try {
      return this.#script.start();
    } catch (cause) {
      // Later, because the caller is not done yet.
      const error = cause instanceof InvalidOptionError ? cause : WorkerFailedError.because(String(cause));
      queueMicrotask(() => this.#options.onGiveUp(error));
      return undefined;
    }
  }

  #receive(hosted: HostedWorker, message: HostMessage): void {
    this.#recordStart(hosted);
    switch (message.type) {
      case 'alive':
        this.#watchLife(hosted);
        hosted.watch.start(PATIENCE_AT_START_MS);
        break;
      case 'on-rung':
        this.#plan.recordRung(message.rung);
        break;
      case 'ready':
        hosted.state = 'ready';
        this.#watchSilence(hosted);
        break;
      case 'busy':
      case 'idle':
        hosted.hasWork = message.type === 'busy';
        if (hosted.state === 'ready') this.#watchSilence(hosted);
        break;
      case 'progress':
        this.#plan.recordProgress();
        break;
      case 'step':
        hosted.stalledIds = message.stalledIds;
        break;
      case 'reading':
        this.#recordReading(hosted, message.requestId);
        break;
      case 'pong':
        hosted.watch.hear(message.patienceMs);
        break;
      case 'fault':
        this.#end(hosted, message);
        break;
      default:
        message satisfies never;
    }
  }

  /** The first message shows that the script runs. */
  #recordStart(hosted: HostedWorker): void {
    if (hosted.state !== 'silent') return;
    hosted.state = 'starting';
    hosted.watch.stop();
  }

  /** While a starting worker reads a prompt, the timeout of a step applies instead of the one of a start. */
  #recordReading(hosted: HostedWorker, requestId: RequestId | undefined): void {
    hosted.readId = requestId;
    if (hosted.state !== 'starting') return;
    hosted.watch.start(requestId === undefined ? PATIENCE_AT_START_MS : undefined);
  }

  /**
   * The worker holds the lock until it ends for any reason. This tab does not wait for a worker that it stops itself: the lock would
   * be granted while the page is frozen, when the browser runs no callbacks.
   */
  #watchLife(hosted: HostedWorker): void {
    const { lifeLock } = hosted;
    if (lifeLock === undefined) return;
    const { signal } = hosted.stopped;
    this.#options.locks
      ?.request(lifeLock, { signal }, () => this.#replace(hosted, 'worker-ended', 'the browser has ended it'))
      .catch((error: unknown) => {
        if (!signal.aborted) throw error;
      });
  }

  /** Without work, no timer runs. */
  #watchSilence({ hasWork, watch }: HostedWorker): void {
    if (hasWork) watch.start();
    else watch.stop();
  }

  /** A script that doesn't call `startWorker` won't do so in the next worker either. */
  #endSilent(hosted: HostedWorker, seconds: number): void {
    if (hosted.state === 'silent') {
      this.#drop();
      this.#options.onGiveUp(WorkerSilentError.after(seconds));
    } else {
      this.#replace(hosted, 'worker-hang', `no answer for ${seconds} s`);
    }
  }

  /**
   * Replaces a worker that could not report its fault. The suspects are the request whose prompt it was reading, or those of the
   * last step that it announced.
   */
  #replace(hosted: HostedWorker, kind: FaultKind, message: string): void {
    const { readId, stalledIds } = hosted;
    const suspects = readId === undefined ? { stalledIds } : { stalledIds: [readId], isReading: true };
    this.#end(hosted, { fault: { kind, message }, numRunning: 0, ...suspects });
  }

  #end(hosted: HostedWorker, end: Omit<EndedWorker, 'phase'>): void {
    if (hosted !== this.#hosted) return;
    this.#drop();
    const phase = phaseOf(hosted);
    const move = this.#plan.recordEnd({ ...end, phase });
    const isMissing = phase === 'fetch';
    // A policy would block the next worker's script too.
    const refusal = isMissing ? this.#script.refusal(this.#directive) : undefined;
    if (move.type === 'give-up' || refusal) {
      const reason = isMissing ? this.#script.reason : WorkerFailedError.because(end.fault.message);
      this.#options.onGiveUp(refusal ?? reason);
      return;
    }
    if (isMissing) this.#script.reportMissing();
    if (move.delayMs === 0) {
      this.#launch();
      return;
    }
    this.#cancelStart = this.#clock.setTimer(move.delayMs, () => {
      this.#cancelStart = undefined;
      this.#launch();
    });
  }
}

interface HostedWorker {
  readonly port: WorkerPort;
  readonly lifeLock: string | undefined;
  readonly watch: SilenceWatch;
  /** Aborted when this tab stops the worker. */
  readonly stopped: AbortController;
  /** `silent`: no message has come. `missing`: its script could not be loaded. */
  state: 'silent' | 'missing' | 'starting' | 'ready';
  hasWork: boolean;
  /** Requests of the last announced step that had no token then. */
  stalledIds: readonly RequestId[];
  /** The request whose prompt the worker is reading. */
  readId: RequestId | undefined;
}

function phaseOf({ state, hasWork, readId }: HostedWorker): EndedWorker['phase'] {
  if (state === 'missing') return 'fetch';
  if (readId !== undefined) return 'busy';
  if (state === 'silent' || state === 'starting') return 'start';
  return hasWork ? 'busy' : 'idle';
}
