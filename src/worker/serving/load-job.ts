import type { Clock } from '../../batching/clock.ts';
import { LoadCancelledError } from '../protocol/errors/hub.ts';
import type { LoadStage, ModelLoad } from '../protocol/protocol.ts';

/** Between two reports of the same phase. */
const INTERVAL_MS = 100;

/** One load from its beginning to its end, which can be paused, resumed and cancelled on its way. */
export class LoadJob {
  /** What it loads and how: another request for the same waits for this one. */
  readonly name: string;
  readonly id: string;
  readonly #clock: Clock;
  readonly #tell: (load: ModelLoad) => void;
  #run = new AbortController();
  #cancelled: LoadCancelledError | undefined;
  /** Set while it is paused. */
  #pause: PromiseWithResolvers<void> | undefined;
  #hasEnded = false;
  #stage: LoadStage = { phase: 'resolve', loaded: 0, total: 0 };
  /** Of the report that is due. */
  #cancelTimer: (() => void) | undefined;

  constructor(name: string, id: string, clock: Clock, tell: (load: ModelLoad) => void) {
    this.name = name;
    this.#clock = clock;
    this.id = id;
    this.#tell = tell;
    this.#report();
  }

  get isCancelled(): boolean {
    return this.#cancelled !== undefined;
  }

  readonly report = (stage: LoadStage): void => {
    const isNew = stage.phase !== this.#stage.phase;
    this.#stage = stage;
    if (isNew) this.#report();
    else this.#cancelTimer ??= this.#clock.setTimer(INTERVAL_MS, () => this.#report());
  };

  /**
   * Runs what can be run again after it was aborted, and goes on where it was; while the job is paused it waits.
   *
   * @throws LoadCancelledError once the job is cancelled, and what `run` throws.
   */
  async attempt<Result>(run: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    for (;;) {
      await this.#pause?.promise;
      if (this.#cancelled) throw this.#cancelled;
      const { signal } = this.#run;
      try {
        return await run(signal);
      } catch (error) {
        // Paused: what has come is kept, and the next run goes on there.
        if (!signal.aborted || this.#cancelled) throw this.#cancelled ?? error;
      }
    }
  }

  pause(): void {
    if (this.#pause || this.#cancelled) return;
    this.#pause = Promise.withResolvers();
    this.#run.abort(LoadCancelledError.of(this.id, 'paused'));
    this.#report();
  }

  resume(): void {
    // Not paused, its run goes on, and can still be aborted.
    if (!this.#pause || this.#cancelled) return;
    this.#run = new AbortController();
    this.#pause.resolve();
    this.#pause = undefined;
    this.#report();
  }

  /** @param why As its caller reads it. */
  cancel(why: string): void {
    this.#cancelled ??= LoadCancelledError.of(this.id, why);
    this.#run.abort(this.#cancelled);
    this.#pause?.resolve();
  }

  /** Nothing is told of it any more. */
  end(): void {
    this.#hasEnded = true;
    this.#cancelTimer?.();
  }

  #report(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    if (this.#hasEnded) return;
    const { bytesPerSecond: _speed, secondsLeft: _secondsLeft, ...halted } = this.#stage;
    const isPaused = this.#pause !== undefined;
    this.#tell({ id: this.id, isPaused, ...(isPaused ? halted : this.#stage) });
  }
}
