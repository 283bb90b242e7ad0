import { systemClock, type Clock } from '../../../batching/clock.ts';
import {
  PROTOCOL_VERSION,
  type FaultKind,
  type HostMessage,
  type HostPing,
  type WorkerInit,
} from '../../protocol/protocol.ts';
import { RecoveryPlan, type EndedWorker } from './recovery-plan.ts';
import { SilenceWatch } from './silence-watch.ts';
import type { Locks } from './client-registry.ts';
import { parseHostMessage } from '../../protocol/host-messages.ts';
import { createLifeName } from '../../protocol/names.ts';

/** A large model that is converted, or runs its first pass on a loaded machine's CPU, keeps a worker from answering for long. */
const PATIENCE_AT_START_MS = 300_000;

/** What a worker is to the tab that makes it. */
export interface WorkerPort {
  postMessage(message: unknown): void;
  addEventListener(type: 'message', listener: (event: { readonly data: unknown }) => void): void;
  addEventListener(type: 'error', listener: (event: { readonly message?: string }) => void): void;
  terminate(): void;
}

export interface WorkerHostOptions {
  readonly createWorker: () => WorkerPort;
  readonly init: Omit<WorkerInit, 'version' | 'type' | 'lifeLock' | 'past'>;
  /** What the worker says that is not for its host. */
  readonly onMessage: (data: unknown) => void;
  /** So many workers have failed one after another that the next would as well. */
  readonly onGiveUp: (error: Error) => void;
  /** Tell when a worker is gone that could not say so. */
  readonly locks?: Locks;
  readonly clock?: Clock;
}

/** Keeps a worker running in this tab: one that fails, hangs or is gone is replaced, as the plan says. */
export class WorkerHost {
  readonly #options: WorkerHostOptions;
  readonly #clock: Clock;
  #plan: RecoveryPlan;
  #hosted: HostedWorker | undefined;
  /** Of the start that is due. */
  #cancelStart: (() => void) | undefined;

  constructor(options: WorkerHostOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#plan = new RecoveryPlan(options.init.backend);
  }

  /** From the top of the ladder. */
  start(): void {
    this.#plan = new RecoveryPlan(this.#options.init.backend);
    this.#launch();
  }

  post(message: unknown): void {
    this.#hosted?.port.postMessage(message);
  }

  stop(): void {
    this.#cancelStart?.();
    this.#cancelStart = undefined;
    this.#hosted?.watch.stop();
    this.#hosted?.port.terminate();
    this.#hosted = undefined;
  }

  #launch(): void {
    const { init, locks } = this.#options;
    const port = this.#create();
    if (!port) return;
    const hosted: HostedWorker = {
      port,
      lifeLock: locks && createLifeName(),
      state: 'starting',
      hasWork: false,
      step: undefined,
      watch: new SilenceWatch({
        clock: this.#clock,
        ask: () => port.postMessage({ version: PROTOCOL_VERSION, type: 'ping' } satisfies HostPing),
        onSilence: (ms) => this.#replace(hosted, 'worker-hang', `no answer for ${Math.round(ms / 1000)} s`),
      }),
    };
    this.#hosted = hosted;
    port.addEventListener('message', ({ data }) => {
      if (hosted !== this.#hosted) return;
      const message = parseHostMessage(data);
      if (message) this.#receive(hosted, message);
      else this.#options.onMessage(data);
    });
    port.addEventListener('error', ({ message }) => {
      // The message is missing where the worker's script could not be loaded.
      if (message === undefined) hosted.state = 'missing';
      this.#replace(hosted, 'worker-error', message ?? 'its script could not be loaded');
    });
    const { lifeLock } = hosted;
    const { past } = this.#plan;
    this.post({
      version: PROTOCOL_VERSION,
      type: 'init',
      ...init,
      ...(lifeLock && { lifeLock }),
      past,
    } satisfies WorkerInit);
  }

  /** Undefined where the browser refuses one: a policy of the page, say. */
  #create(): WorkerPort | undefined {
    try {
      return this.#options.createWorker();
    } catch (cause) {
      // In a turn of its own: whoever called is not done yet.
      queueMicrotask(() => this.#options.onGiveUp(failureOf(String(cause))));
      return undefined;
    }
  }

  #receive(hosted: HostedWorker, message: HostMessage): void {
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
        hosted.step = message;
        break;
      case 'pong':
        hosted.watch.hear(message.patienceMs);
        break;
      case 'fault':
        this.#end(hosted, message.fault.kind === 'worker-error' ? withAnnounced(hosted, message) : message);
        break;
      default:
        message satisfies never;
    }
  }

  /** The lock is free when the worker is gone, however it went. */
  #watchLife(hosted: HostedWorker): void {
    const { lifeLock } = hosted;
    if (lifeLock === undefined) return;
    void this.#options.locks?.request(lifeLock, () =>
      this.#replace(hosted, 'worker-ended', 'the browser has ended it'),
    );
  }

  /** No timer runs while there is nothing to wait for. */
  #watchSilence({ hasWork, watch }: HostedWorker): void {
    if (hasWork) watch.start();
    else watch.stop();
  }

  /** It could not say itself what has happened. */
  #replace(hosted: HostedWorker, kind: FaultKind, message: string): void {
    const { requestIds = [], stalledIds = [] } = hosted.step ?? {};
    this.#end(hosted, { fault: { kind, message }, stalledIds, numRunning: requestIds.length });
  }

  #end(hosted: HostedWorker, { fault, stalledIds, numRunning }: Omit<EndedWorker, 'phase'>): void {
    if (hosted !== this.#hosted) return;
    this.stop();
    const move = this.#plan.recordEnd({ fault, stalledIds, numRunning, phase: phaseOf(hosted) });
    if (move.type === 'give-up') {
      this.#options.onGiveUp(failureOf(fault.message));
      return;
    }
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

type FaultMessage = Extract<HostMessage, { type: 'fault' }>;

interface HostedWorker {
  readonly port: WorkerPort;
  readonly lifeLock: string | undefined;
  readonly watch: SilenceWatch;
  /** `missing`: its script did not come. */
  state: 'missing' | 'starting' | 'ready';
  hasWork: boolean;
  /** The last that it has announced, where it does so. */
  step: Pick<Extract<HostMessage, { type: 'step' }>, 'requestIds' | 'stalledIds'> | undefined;
}

function phaseOf({ state, hasWork }: HostedWorker): EndedWorker['phase'] {
  if (state === 'missing') return 'fetch';
  if (state === 'starting') return 'start';
  return hasWork ? 'busy' : 'idle';
}

/** What nobody has caught names no step. */
function withAnnounced({ step }: HostedWorker, fault: FaultMessage): FaultMessage {
  return { ...fault, stalledIds: step?.stalledIds ?? [] };
}

function failureOf(detail: string): Error {
  return new Error(`The worker failed (${detail}): reload the page.`);
}
