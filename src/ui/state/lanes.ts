import type { SlotSpan } from '../../client/index.ts';

interface Placeable extends Pick<SlotSpan, 'requestId' | 'index' | 'slot'> {
  readonly startedAtMs: number;
}

interface Placed extends Placeable {
  readonly lane: number;
  readonly end?: string;
  readonly endedAtMs?: number;
}

/** Times of one message agree up to rounding, ms. */
const TOLERANCE_MS = 1;

/** Gives each sequence a row of the timeline for as long as it runs, whatever slots the engine moves it to. */
export class Lanes {
  /** When the last bar of each lane ends: Infinity while it lasts, -Infinity where an earlier message reported its end. */
  readonly #endsMs: number[] = [];
  /** The lane of each sequence that runs. */
  readonly #kept = new Map<string, number>();

  /** The lane that the sequence has; else that of its slot, or the first free one. */
  choose(bar: Placeable): number {
    const kept = this.#kept.get(nameOf(bar));
    if (kept !== undefined) return kept;
    const isFree = (lane: number): boolean =>
      (this.#endsMs[lane] ?? -Infinity) <= bar.startedAtMs + TOLERANCE_MS;
    let lane = isFree(bar.slot) ? bar.slot : 0;
    while (!isFree(lane)) lane += 1;
    return lane;
  }

  /** Call it with each report of a bar: its lane is free once the sequence has ended. */
  follow(bar: Placed): void {
    const isOver = bar.endedAtMs !== undefined && bar.end !== 'moved';
    this.#endsMs[bar.lane] = isOver ? (bar.endedAtMs ?? 0) : Infinity;
    if (isOver) this.#kept.delete(nameOf(bar));
    else this.#kept.set(nameOf(bar), bar.lane);
  }

  /**
   * Call it after each message: a bar that the next message is the first to report began after all bars that have ended by now. The
   * times of two messages can't show that, because messages take different times to arrive.
   */
  settle(): void {
    for (let lane = 0; lane < this.#endsMs.length; lane += 1)
      if (this.#endsMs[lane] !== Infinity) this.#endsMs[lane] = -Infinity;
  }
}

function nameOf({ requestId, index }: Placeable): string {
  return `${requestId}#${index}`;
}
