/** Size of the K/V cache: rows in which sequences decode, rows in which prompts are prefilled, and tokens per row. */
export interface KvShape {
  readonly numSlots: number;
  readonly numStagingRows: number;
  readonly capacity: number;
  /** Copies of the fixed state of rows, from which other rows go on. They have no keys and values. */
  readonly numSnapshots: number;
}

/** Cost and limits of what a runner keeps of rows. */
export interface KvCacheLimits {
  /** State of a fixed size, which each token changes. A row that has any goes on behind its last token, or from a snapshot. */
  readonly bytesPerRow: number;
  /** K and V of all layers, for one token of one row. */
  readonly bytesPerToken: number;
  /** All rows together: an estimate of what the device can hold. */
  readonly maxBytes: number;
  /** The slots alone: their K of one layer is one buffer. */
  readonly maxSlotBytes: number;
  /** Limit on the number of slots, whatever their bytes. It may change, so it is read for each reservation. */
  readonly maxRows?: number;
  /** Tokens to reserve for a row of this length: more than it needs if growing is expensive. */
  capacityFor(length: number): number;
}

/** The rows that run or are to run. */
export interface KvNeed {
  /** One more than the highest slot in use. */
  readonly numRows: number;
  readonly numStagingRows: number;
  /** Tokens of the longest row now. */
  readonly length: number;
  /** The most tokens that the longest row can have. */
  readonly finalLength: number;
  /** Whether spare memory may hold snapshots. */
  readonly maySnapshot?: boolean;
}

/** Reserve at least this many slots if there is room: free ones keep prefixes for reuse. */
const FEWEST_SLOTS = 4;
/** Memory is given back after this many steps that needed less. The window is longer than the pauses of a conversation. */
const SHRINK_WINDOW_STEPS = 256;

/**
 * Decides the shape of the K/V cache. Slots grow in powers of two. After each window of steps the shape shrinks to the
 * most that the window has needed.
 *
 * Invariant, at every step and for every limit in force (the user's, the device's, `maxSlotBytes`, `maxRows`):
 *
 *     (slots + staging rows) × (bytesPerRow + capacity × bytesPerToken) + snapshots × bytesPerRow <= maxBytes
 *     slots × (bytesPerRow + capacity × bytesPerToken) <= maxSlotBytes,  slots <= maxRows
 *
 * It holds for the shape that is reserved, and also for that shape once every running row has grown to its final length.
 * So `reserve` never takes a slot or a snapshot away. Only `makeRoom`, `trim` and `beginStep` take spare rows and spare capacity
 * away, before the scheduler decides which of them a step copies from.
 *
 * The exception is a limit that is lowered below what runs. Running sequences keep their memory until they end: the shape
 * is then the least that holds their rows now, and nothing is admitted beside them.
 */
export class KvMemory {
  readonly #limits: KvCacheLimits;
  #maxBytes: number;
  #shape: KvShape = { numSlots: 0, numStagingRows: 0, capacity: 0, numSnapshots: 0 };
  /** The largest shape wanted in this window of steps, before limits. */
  #peak: KvShape = this.#shape;
  #numSteps = 0;

  /** @param maxBytes The user's limit; the device's limit holds as well. */
  constructor(limits: KvCacheLimits, maxBytes: number) {
    this.#limits = limits;
    this.#maxBytes = maxBytes;
  }

  get shape(): KvShape {
    return this.#shape;
  }

  /** Bytes that rows of this many tokens fill. */
  bytesOfRows(lengths: readonly number[]): number {
    return lengths.reduce((sum, length) => sum + this.#rowBytes(length), 0);
  }

  get reservedBytes(): number {
    return this.#bytesOf(this.#shape);
  }

  /** The lower of the user's limit and the device's. */
  get maxBytes(): number {
    return Math.min(this.#maxBytes, this.#limits.maxBytes);
  }

  /** Holds for admissions from now on, and for spare memory from the next step or `trim` on. */
  limitTo(maxBytes: number): void {
    this.#maxBytes = maxBytes;
  }

  /** Memory of a lone sequence of this length. */
  bytesForOne(finalLength: number): number {
    return this.#bytesOf(this.#final(loneSequence(finalLength)));
  }

  /** Whether a lone sequence can grow to this length. */
  canEverHold(finalLength: number): boolean {
    return this.canHold(loneSequence(finalLength));
  }

  /** Whether this fits, to the last token, once everything spare is given back. */
  canHold(need: KvNeed): boolean {
    return this.#isWithin(this.#final(need));
  }

  /** Whether this fits, to the last token, with nothing given back. */
  hasRoomFor(need: KvNeed): boolean {
    return this.#isWithin(larger(this.#shape, this.#final(need)));
  }

  /** Gives back as much spare memory as this needs up to its last token. Returns false, without a change, if it is too little. */
  makeRoom(need: KvNeed): boolean {
    if (!this.canHold(need)) return false;
    this.trim(need);
    return true;
  }

  /** Gives back spare memory until the limits hold: first snapshots, then staging rows, then slots, then capacity. */
  trim(need: KvNeed): void {
    if (this.hasRoomFor(need)) return;
    const now = this.#now(need);
    const { numStagingRows } = now;
    const numSlots = Math.min(this.#shape.numSlots, now.numSlots);
    const capacity = Math.min(this.#shape.capacity, now.capacity);
    const withoutSnapshots = { ...this.#shape, numSnapshots: 0 };
    const withoutStaging = { ...withoutSnapshots, numStagingRows };
    const withSlots = (shape: KvShape): KvShape =>
      this.#withSpare('numSlots', { ...shape, numSlots }, this.#shape.numSlots, need);
    const isRoomIn = (shape: KvShape): boolean => this.#isWithin(larger(shape, this.#final(need)));
    const shape =
      [withoutSnapshots, withoutStaging, withSlots(withoutStaging)].find(isRoomIn) ??
      withSlots({ ...withoutStaging, capacity });
    this.#shape = this.#withSnapshots(shape, this.#shape.numSnapshots, need);
  }

  /** Call it once before each step with the rows that run already. */
  beginStep(need: KvNeed): void {
    this.trim(need);
    this.#numSteps += 1;
    if (this.#numSteps % SHRINK_WINDOW_STEPS !== 0) return;
    this.#shape = combine(Math.min, this.#shape, larger(this.#peak, this.#wanted(need)));
    this.#peak = this.#wanted(need);
  }

  /** Grows to hold this, with spare slots and snapshots if they fit to the last token. Call `makeRoom` first. */
  reserve(need: KvNeed): KvShape {
    const wanted = this.#wanted(need);
    this.#peak = larger(this.#peak, wanted);
    const least = larger(this.#shape, this.#now(need));
    const shape = this.#withSpare('numSlots', least, wanted.numSlots, need);
    this.#shape = this.#withSnapshots(shape, wanted.numSnapshots, need);
    return this.#shape;
  }

  /** The least that holds it now. */
  #now({ numRows, numStagingRows, length }: KvNeed): KvShape {
    return { numSlots: numRows, numStagingRows, capacity: this.#limits.capacityFor(length), numSnapshots: 0 };
  }

  /** The least that holds it to the last token. */
  #final(need: KvNeed): KvShape {
    return this.#now({ ...need, length: need.finalLength });
  }

  /** The shape to reserve for it if there were no limits. */
  #wanted(need: KvNeed): KvShape {
    const { numRows, maySnapshot = false } = need;
    const numSlots = numRows === 0 ? 0 : Math.max(FEWEST_SLOTS, 2 ** Math.ceil(Math.log2(numRows)));
    const numSnapshots = maySnapshot && this.#limits.bytesPerRow > 0 ? numSlots : 0;
    return { ...this.#now(need), numSlots, numSnapshots };
  }

  /** The shape with up to `max` slots or snapshots: as many as fit once the need has grown to its last token. */
  #withSpare(name: 'numSlots' | 'numSnapshots', shape: KvShape, max: number, need: KvNeed): KvShape {
    const final = larger(shape, this.#final(need));
    let count = Math.max(shape[name], max);
    while (count > shape[name] && !this.#isWithin({ ...final, [name]: count })) count -= 1;
    return { ...shape, [name]: count };
  }

  #withSnapshots(shape: KvShape, max: number, need: KvNeed): KvShape {
    return this.#withSpare('numSnapshots', shape, Math.min(max, shape.numSlots), need);
  }

  #isWithin(shape: KvShape): boolean {
    const { maxSlotBytes, maxRows = Infinity } = this.#limits;
    if (shape.numSlots > maxRows) return false;
    const slotBytes = shape.numSlots * this.#rowBytes(shape.capacity);
    return slotBytes <= maxSlotBytes && this.#bytesOf(shape) <= this.maxBytes;
  }

  #bytesOf({ numSlots, numStagingRows, capacity, numSnapshots }: KvShape): number {
    return (numSlots + numStagingRows) * this.#rowBytes(capacity) + numSnapshots * this.#limits.bytesPerRow;
  }

  #rowBytes(numTokens: number): number {
    return this.#limits.bytesPerRow + numTokens * this.#limits.bytesPerToken;
  }
}

function loneSequence(finalLength: number): KvNeed {
  return { numRows: 1, numStagingRows: 1, length: 1, finalLength };
}

function larger(a: KvShape, b: KvShape): KvShape {
  return combine(Math.max, a, b);
}

function combine(choose: (a: number, b: number) => number, a: KvShape, b: KvShape): KvShape {
  return {
    numSlots: choose(a.numSlots, b.numSlots),
    numStagingRows: choose(a.numStagingRows, b.numStagingRows),
    capacity: choose(a.capacity, b.capacity),
    numSnapshots: choose(a.numSnapshots, b.numSnapshots),
  };
}
