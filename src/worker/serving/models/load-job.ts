import type { Clock } from '../../../batching/base/clock.ts';
import { stampOf } from '../../models/formats/checkpoint-files.ts';
import { LoadCancelledError } from '../../../protocol/errors/hub.ts';
import type {
  DtypeChoice,
  FirstSource,
  LoadStage,
  ModelLoad,
  ModelSource,
} from '../../../protocol/models.ts';

/** Time between two reports of the same phase. */
const INTERVAL_MS = 100;

/** Loads of the same name yield the same model. */
export function nameOfLoad(source: ModelSource | FirstSource, dtype: DtypeChoice): string {
  const named = source.type === 'files' ? { ...source, files: stampOf(source.files) } : source;
  return JSON.stringify([named, dtype]);
}

/** One load of a model, which can be paused, resumed and cancelled. */
export class LoadJob {
  /** Identifies the model and its options. A request with the same name shares this load. */
  readonly name: string;
  readonly id: string;
  readonly #clock: Clock;
  readonly #send: (load: ModelLoad) => void;
  #run = new AbortController();
  #cancelled: LoadCancelledError | undefined;
  readonly #cancellation = Promise.withResolvers<void>();
  /** Set while the load is paused. */
  #pause: PromiseWithResolvers<void> | undefined;
  #hasEnded = false;
  #stage: LoadStage = { phase: 'resolve', loaded: 0, total: 0 };
  #meter: ReturnType<typeof createProgressMeter>;
  readonly #fraction: LoadFraction;
  #sentAtMs = -Infinity;
  /** Cancels the pending report. */
  #cancelTimer: (() => void) | undefined;

  /** @param fraction Given where more of the load follows this job. */
  constructor(
    name: string,
    id: string,
    clock: Clock,
    send: (load: ModelLoad) => void,
    fraction = new LoadFraction(),
  ) {
    this.name = name;
    this.#fraction = fraction;
    this.#clock = clock;
    this.#meter = createProgressMeter(clock, 0);
    this.id = id;
    this.#send = send;
    this.#report();
  }

  get isCancelled(): boolean {
    return this.#cancelled !== undefined;
  }

  /** Resolves once it is cancelled. */
  get cancelled(): Promise<void> {
    return this.#cancellation.promise;
  }

  /** Takes the state of a phase, and adds its speed. */
  readonly report = (stage: LoadStage): void => {
    const isNew = stage.phase !== this.#stage.phase;
    this.#stage = stage;
    if (isNew) this.#meter = createProgressMeter(this.#clock, stage.loaded);
    else this.#meter.record(stage.loaded);
    // While the runtime prepares, it blocks the worker: then no timer fires.
    if (isNew || this.#clock.now() - this.#sentAtMs >= INTERVAL_MS) this.#report();
    else this.#cancelTimer ??= this.#clock.setTimer(INTERVAL_MS, () => this.#report());
  };

  /**
   * Runs one part of the load. A pause aborts the part, and `resume` runs it again, so it has to continue from where it was.
   *
   * @throws LoadCancelledError once the load is cancelled, or the error of `run`.
   */
  async attempt<Result>(run: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    for (;;) {
      await this.#pause?.promise;
      if (this.#cancelled) throw this.#cancelled;
      const { signal } = this.#run;
      try {
        return await run(signal);
      } catch (error) {
        // Otherwise the load was paused, and the part runs again.
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
    if (!this.#pause || this.#cancelled) return;
    this.#run = new AbortController();
    this.#pause.resolve();
    this.#pause = undefined;
    this.#report();
  }

  /** @param why Shown to the caller. */
  cancel(why: string): void {
    this.#cancelled ??= LoadCancelledError.of(this.id, why);
    this.#run.abort(this.#cancelled);
    this.#pause?.resolve();
    this.#cancellation.resolve();
    // A part that can't be aborted may go on for a while, also behind the next load.
    this.end();
  }

  /** Reports that all is done. */
  succeed(): void {
    this.#fraction.end();
    this.#report();
    this.end();
  }

  /** Stops the reports. */
  end(): void {
    this.#hasEnded = true;
    this.#cancelTimer?.();
  }

  #report(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    if (this.#hasEnded) return;
    this.#sentAtMs = this.#clock.now();
    const isPaused = this.#pause !== undefined;
    const fraction = this.#fraction.at(this.#stage);
    this.#send({ id: this.id, isPaused, ...this.#stage, fraction, ...(!isPaused && this.#pace()) });
  }

  #pace(): Pick<ModelLoad, 'bytesPerSecond' | 'secondsLeft'> {
    const { phase, loaded, total } = this.#stage;
    const perSecond = this.#meter.perSecond();
    return {
      ...(phase === 'download' && { bytesPerSecond: perSecond }),
      ...(perSecond > 0 && { secondsLeft: (total - loaded) / perSecond }),
    };
  }
}

interface Sample {
  readonly atMs: number;
  readonly loaded: number;
}

const WINDOW_MS = 5000;
/** Over a shorter time, a single chunk would change the speed too much. */
const SHORTEST_SPAN_MS = 250;

/**
 * The speed of a phase over the last seconds.
 *
 * @param loaded Bytes or steps at its beginning.
 */
export function createProgressMeter(clock: Clock, loaded: number) {
  const samples: Sample[] = [{ atMs: clock.now(), loaded }];
  return {
    record(latest: number): void {
      samples.push({ atMs: clock.now(), loaded: latest });
    },

    /** Bytes or steps per second: 0 at the beginning, and when the phase stalls. */
    perSecond(): number {
      const nowMs = clock.now();
      // The last one before the window tells how much there was at its beginning.
      while (samples[1] && samples[1].atMs <= nowMs - WINDOW_MS) samples.shift();
      const [first] = samples;
      const last = samples.at(-1);
      if (!first || !last) return 0;
      const spanMs = Math.min(nowMs - first.atMs, WINDOW_MS);
      return spanMs < SHORTEST_SPAN_MS ? 0 : (1000 * (last.loaded - first.loaded)) / spanMs;
    },
  };
}

/** Where each phase ends on the way from 0 to 1. One that is skipped leaves its part to the next. */
const ENDS: Readonly<Record<LoadStage['phase'], number>> = {
  resolve: 0.01,
  download: 0.85,
  convert: 0.85,
  prepare: 0.95,
  check: 0.97,
  compile: 0.99,
  drain: 1,
};

/** How much of a whole load is done. It never goes back, also where a phase begins again after a pause. */
export class LoadFraction {
  #phase: LoadStage['phase'] | undefined;
  #begin = 0;
  #value = 0;

  at({ phase, loaded, total }: Pick<LoadStage, 'phase' | 'loaded' | 'total'>): number {
    if (phase !== this.#phase) this.#begin = this.#value;
    this.#phase = phase;
    const part = total > 0 ? Math.min(1, loaded / total) : 0;
    this.#value = Math.max(this.#value, this.#begin + part * (ENDS[phase] - this.#begin));
    return this.#value;
  }

  /** Of a load that has succeeded, whatever phases it had. */
  end(): number {
    this.#value = 1;
    return this.#value;
  }
}
