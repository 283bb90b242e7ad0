import type { Clock } from '../base/clock.ts';

interface FakeTimer {
  readonly dueMs: number;
  readonly order: number;
  readonly fire: () => void;
}

/** Time for tests: it stands still until `advance` moves it, and fires due timers in order of due time, then of setting. */
export class FakeClock implements Clock {
  readonly #timers = new Set<FakeTimer>();
  #nowMs = 0;
  #timersSet = 0;

  now(): number {
    return this.#nowMs;
  }

  setTimer(delayMs: number, fire: () => void): () => void {
    const timer = { dueMs: this.#nowMs + Math.max(0, delayMs), order: this.#timersSet++, fire };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** Moves time on by `ms` while a task runs: timers that fall due fire late, at the next `advance`. */
  block(ms: number): void {
    this.#nowMs += ms;
  }

  /** Moves time on by `ms`; a timer set by a firing timer fires too if it falls due on the way. */
  advance(ms: number): void {
    const endMs = this.#nowMs + ms;
    for (let timer = this.#nextDue(endMs); timer; timer = this.#nextDue(endMs)) {
      this.#timers.delete(timer);
      this.#nowMs = Math.max(this.#nowMs, timer.dueMs);
      timer.fire();
    }
    this.#nowMs = endMs;
  }

  get pendingTimers(): number {
    return this.#timers.size;
  }

  #nextDue(endMs: number): FakeTimer | undefined {
    let next: FakeTimer | undefined;
    for (const timer of this.#timers) {
      if (timer.dueMs > endMs) continue;
      if (!next || timer.dueMs < next.dueMs || (timer.dueMs === next.dueMs && timer.order < next.order)) {
        next = timer;
      }
    }
    return next;
  }
}
