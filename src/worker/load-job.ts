import { LoadCancelledError } from './model/hub/errors.ts';
import type { LoadFailure, ModelLoad } from './protocol.ts';

export type LoadStage = Pick<ModelLoad, 'phase' | 'loaded' | 'total' | 'bytesPerSecond' | 'secondsLeft'>;

/** What of a load is told to the tabs. */
export interface LoadTold {
  readonly load?: ModelLoad;
  readonly loadFailure?: LoadFailure;
}

/** Between two reports of the same phase. */
const INTERVAL_MS = 100;

/** One load from its beginning to its end, which can be paused, resumed and cancelled on its way. */
export class LoadJob {
  /** What it loads and how: another request for the same waits for this one. */
  readonly name: string;
  readonly id: string;
  readonly #tell: (told: LoadTold) => void;
  #run = new AbortController();
  #cancelled: LoadCancelledError | undefined;
  /** Set while it is paused. */
  #pause: PromiseWithResolvers<void> | undefined;
  #stage: LoadStage = { phase: 'resolve', loaded: 0, total: 0 };
  #toldAtMs = -Infinity;

  constructor(name: string, id: string, tell: (told: LoadTold) => void) {
    this.name = name;
    this.id = id;
    this.#tell = tell;
    this.#report();
  }

  readonly report = (stage: LoadStage): void => {
    const isNew = stage.phase !== this.#stage.phase;
    const isDue = performance.now() - this.#toldAtMs >= INTERVAL_MS || stage.loaded === stage.total;
    this.#stage = stage;
    if (isNew || isDue) this.#report();
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
      try {
        return await run(this.#run.signal);
      } catch (error) {
        // Paused: what has come is kept, and the next run goes on there.
        if (!this.#pause || this.#cancelled) throw this.#cancelled ?? error;
      }
    }
  }

  pause(): void {
    if (this.#pause || this.#cancelled) return;
    this.#pause = Promise.withResolvers();
    this.#run.abort(LoadCancelledError.of(this.id, 'it is paused'));
    this.#report();
  }

  resume(): void {
    this.#run = new AbortController();
    this.#pause?.resolve();
    this.#pause = undefined;
    this.#report();
  }

  /** @param why As its caller reads it. */
  cancel(why: string): void {
    this.#cancelled ??= LoadCancelledError.of(this.id, why);
    this.#run.abort(this.#cancelled);
    this.#pause?.resolve();
  }

  #report(): void {
    this.#toldAtMs = performance.now();
    const { phase, loaded, total, bytesPerSecond, secondsLeft } = this.#stage;
    const isPaused = this.#pause !== undefined;
    this.#tell({
      load: {
        id: this.id,
        isPaused,
        phase,
        loaded,
        total,
        ...(bytesPerSecond !== undefined && !isPaused && { bytesPerSecond }),
        ...(secondsLeft !== undefined && !isPaused && { secondsLeft }),
      },
    });
  }
}
