import { systemClock } from '../../src/batching/base/clock.ts';
import type { TabserveStatus } from '../../src/protocol/status.ts';

interface Terminal {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

const BAR_WIDTH = 24;

/** Moves to the start of the line and clears it. */
const CLEAR_LINE = '\r\u001B[2K';

/** A pipe gets a line for each of these parts of a phase, but not more often than this. */
const PIPE_STEP = 0.1;
const PIPE_INTERVAL_MS = 1000;

/** The part of a status about a model that is being loaded. */
type Progress = Pick<TabserveStatus, 'load' | 'progress'>;

/** A part of some work, and how far it is. */
interface Stage {
  readonly phase: string;
  readonly loaded: number;
  readonly total: number;
}

/** Shows how far a model's load or other work is: in one line that changes in a terminal, or in a few lines in a pipe. */
export class ProgressBar {
  readonly #terminal: Terminal;
  /** The phase and step that a pipe has a line about. */
  #last = '';
  #lastAtMs = -Infinity;
  #isShown = false;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  show({ load, progress }: Progress): void {
    const stage = load ?? progress;
    if (stage) this.showStage(stage, load ? detailOf(load) : '');
  }

  /** @param detail Follows the percentage. */
  showStage({ phase, loaded, total }: Stage, detail: string): void {
    if (total === 0) return;
    const done = Math.min(1, loaded / total);
    const line = `${phase} ${barOf(done)} ${Math.floor(done * 100)} %${detail}`;
    if (this.#terminal.isTTY) {
      this.#terminal.write(CLEAR_LINE + line);
      this.#isShown = true;
      return;
    }
    const step = `${phase} ${Math.floor(done / PIPE_STEP)}`;
    const nowMs = systemClock.now();
    if (step === this.#last || nowMs - this.#lastAtMs < PIPE_INTERVAL_MS) return;
    this.#terminal.write(`${line}\n`);
    this.#last = step;
    this.#lastAtMs = nowMs;
  }

  /** Call it before any other line is printed. */
  clear(): void {
    if (this.#isShown) this.#terminal.write(CLEAR_LINE);
    this.#isShown = false;
  }
}

function barOf(done: number): string {
  const numFull = Math.round(done * BAR_WIDTH);
  return `[${'#'.repeat(numFull)}${'-'.repeat(BAR_WIDTH - numFull)}]`;
}

function detailOf({ phase, total, bytesPerSecond, secondsLeft }: NonNullable<Progress['load']>): string {
  if (phase !== 'download') return '';
  const speed = bytesPerSecond === undefined ? '' : `, ${megabytes(bytesPerSecond)} MB/s`;
  const left = secondsLeft === undefined ? '' : `, ${Math.ceil(secondsLeft)} s left`;
  return ` of ${megabytes(total)} MB${speed}${left}`;
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}
