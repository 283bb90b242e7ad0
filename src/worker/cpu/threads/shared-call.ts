import { attentionScratchBytes, type Kernels } from '../kernels/kernels.ts';

/** A kernel whose work is divided among threads. */
interface DividedKernel {
  readonly name: keyof Kernels;
  /** The parameter that starts the range; its end follows. */
  readonly range: number;
  /** Kernels compute this many together: ranges start at multiples of it. */
  readonly unit: number;
}

const DIVIDED: readonly DividedKernel[] = [
  { name: 'multiplyFloat', range: 8, unit: 16 },
  { name: 'multiplyInt8', range: 9, unit: 16 },
  { name: 'multiplyInt4', range: 9, unit: 16 },
  { name: 'attend', range: 14, unit: 1 },
  { name: 'deltaRule', range: 18, unit: 1 },
];

export type DividedName = 'multiplyFloat' | 'multiplyInt8' | 'multiplyInt4' | 'attend' | 'deltaRule';

/** Parameters of `attend`. */
const [SCRATCH, TOKENS, PAST] = [8, 9, 10];

const MAX_PARAMETERS = 20;

/** Words of the control block, each changed by `Atomics` alone. */
const [NUMBER, NUM_DONE, HAS_FAILED, KERNEL] = [0, 1, 2, 3];
const NUM_WORDS = 4;

/** Tries before a thread sleeps: waking it takes longer than most pauses between two calls. */
const NUM_TRIES = 4000;

/** Number of the call after which threads end. */
const END = -1;

/**
 * A call takes milliseconds, so a thread that is silent for this long is dead. Counted in ticks: time in which the machine sleeps adds one
 * at most.
 */
const PATIENCE_TICKS = 30;
const TICK_MS = 1000;

/** One call of a kernel that all threads make together, each for its part. */
export class SharedCall {
  readonly buffer: SharedArrayBuffer;
  readonly #words: Int32Array;
  readonly #parameters: Float64Array;
  /** The number of the last call that was made here. */
  #number = 0;

  constructor(buffer = new SharedArrayBuffer(8 * (NUM_WORDS + MAX_PARAMETERS))) {
    this.buffer = buffer;
    this.#words = new Int32Array(buffer, 0, NUM_WORDS);
    this.#parameters = new Float64Array(buffer, 8 * NUM_WORDS);
  }

  /**
   * Makes a call on all threads, this one included, and waits for the others.
   *
   * @param tickMs The length of a tick of the patience with a silent thread.
   * @throws WebAssembly.RuntimeError where a kernel traps, or a thread is dead.
   */
  make(
    kernels: Kernels,
    name: DividedName,
    parameters: readonly number[],
    numThreads: number,
    tickMs = TICK_MS,
  ): void {
    this.#requireThreads();
    const kernel = DIVIDED.findIndex((divided) => divided.name === name);
    this.#parameters.set(parameters);
    Atomics.store(this.#words, NUM_DONE, 0);
    Atomics.store(this.#words, KERNEL, kernel);
    this.#number = (this.#number + 1) % 2 ** 31;
    Atomics.store(this.#words, NUMBER, this.#number);
    Atomics.notify(this.#words, NUMBER);
    this.#compute(kernels, 0, numThreads);
    let numSilent = 0;
    for (let done = 0; done < numThreads - 1;) {
      const before = done;
      done = this.#waitFor(NUM_DONE, before, tickMs);
      numSilent = done === before ? numSilent + 1 : 0;
      if (numSilent === PATIENCE_TICKS)
        throw new WebAssembly.RuntimeError("A thread of kernels doesn't answer: it has ended");
    }
    this.#requireThreads();
  }

  /** Makes calls throw from now on: a thread has failed. */
  fail(): void {
    Atomics.store(this.#words, HAS_FAILED, 1);
  }

  #requireThreads(): void {
    if (Atomics.load(this.#words, HAS_FAILED) === 1)
      throw new WebAssembly.RuntimeError('A thread of kernels has failed');
  }

  /** Takes part in all calls until `end`. Blocks the thread. */
  join(kernels: Kernels, thread: number, numThreads: number): void {
    for (let number = 0; ;) {
      number = this.#waitFor(NUMBER, number);
      if (number === END) return;
      try {
        this.#compute(kernels, thread, numThreads);
      } catch {
        this.fail();
      }
      Atomics.add(this.#words, NUM_DONE, 1);
      Atomics.notify(this.#words, NUM_DONE);
    }
  }

  end(): void {
    Atomics.store(this.#words, NUMBER, END);
    Atomics.notify(this.#words, NUMBER);
  }

  #compute(kernels: Kernels, thread: number, numThreads: number): void {
    const kernel = DIVIDED[Atomics.load(this.#words, KERNEL)];
    if (!kernel) return;
    const parameters = [...this.#parameters];
    const { range, unit, name } = kernel;
    const [first = 0, end = 0] = parameters.slice(range, range + 2);
    const numUnits = Math.ceil((end - first) / unit);
    const startOf = (index: number): number => first + unit * Math.floor((numUnits * index) / numThreads);
    parameters[range] = startOf(thread);
    parameters[range + 1] = Math.min(end, startOf(thread + 1));
    if (name === 'attend')
      parameters[SCRATCH] = (parameters[SCRATCH] ?? 0) + thread * scratchBytes(parameters);
    if ((parameters[range] ?? 0) < (parameters[range + 1] ?? 0))
      Reflect.apply(kernels[name], undefined, parameters);
  }

  /** @returns Another value of a word than this one; the same after `maxMs`. */
  #waitFor(word: number, known: number, maxMs = Infinity): number {
    for (let tries = 0; tries < NUM_TRIES; tries++) {
      const value = Atomics.load(this.#words, word);
      if (value !== known) return value;
    }
    Atomics.wait(this.#words, word, known, maxMs);
    return Atomics.load(this.#words, word);
  }
}

function scratchBytes(parameters: readonly number[]): number {
  return attentionScratchBytes((parameters[TOKENS] ?? 0) + (parameters[PAST] ?? 0));
}
