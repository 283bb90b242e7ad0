/** Size of the K/V cache: rows in which sequences decode, rows in which prompts are prefilled, and tokens per row. */
export interface KvShape {
  readonly numSlots: number;
  readonly numStagingRows: number;
  readonly capacity: number;
}

/** What a runner's K/V cache costs, and where it ends. */
export interface KvCacheLimits {
  /** K and V of all layers, for one token of one row. */
  readonly bytesPerToken: number;
  /** All rows together, as an estimate of what the device bears. */
  readonly maxBytes: number;
  /** The slots alone, whose K of one layer is one buffer. */
  readonly maxSlotBytes: number;
  /** Rows that may be reserved as slots, where that is not a matter of bytes; read whenever rows are. */
  readonly maxRows?: number;
  /** What to reserve for rows of this many tokens: more than they need, where growing is dear. */
  capacityFor(length: number): number;
}

/** What runs, or is to run. */
export interface KvNeed {
  /** One more than the highest slot in use. */
  readonly numRows: number;
  readonly numStagingRows: number;
  /** Tokens of the longest row now. */
  readonly length: number;
  /** Tokens that the longest row can come to. */
  readonly finalLength: number;
}

/** Slots that are reserved where there is room, if fewer are in use: freed ones keep prefixes for reuse. */
const FEWEST_SLOTS = 4;
/** Steps that needed less, before memory is given back: long enough to outlast the pauses of a conversation. */
const SHRINK_WINDOW_STEPS = 256;

/**
 * Decides on the shape of the K/V cache. It grows with what runs, the slots in powers of two, and shrinks to the most that
 * was needed in a window of steps. What is admitted is sure of its memory up to its last token: `canHold` counts with final lengths.
 */
export class KvMemory {
  readonly #limits: KvCacheLimits;
  #maxBytes: number;
  #shape: KvShape = { numSlots: 0, numStagingRows: 0, capacity: 0 };
  /** The most of each that this window of steps has needed. */
  #peak: KvShape = this.#shape;
  #numSteps = 0;

  /** @param maxBytes The user's own limit; the device's binds as well. */
  constructor(limits: KvCacheLimits, maxBytes: number) {
    this.#limits = limits;
    this.#maxBytes = maxBytes;
  }

  get shape(): KvShape {
    return this.#shape;
  }

  get bytesPerToken(): number {
    return this.#limits.bytesPerToken;
  }

  get reservedBytes(): number {
    return this.#bytesOf(this.#shape);
  }

  /** The lower of the user's limit and the device's. */
  get maxBytes(): number {
    return Math.min(this.#maxBytes, this.#limits.maxBytes);
  }

  /** Binds what is admitted from now on. */
  limitTo(maxBytes: number): void {
    this.#maxBytes = maxBytes;
  }

  /** That a lone sequence takes when it has grown to this length. */
  bytesForOne(finalLength: number): number {
    return this.#bytesOf(this.#smallest({ numRows: 1, numStagingRows: 1, length: 1, finalLength }));
  }

  /** Whether a lone sequence can grow to this length. */
  canEverHold(finalLength: number): boolean {
    return this.#isWithin(this.#smallest({ numRows: 1, numStagingRows: 1, length: 1, finalLength }));
  }

  /** Whether what is reserved can grow to hold this, to the last token. */
  canHold(need: KvNeed): boolean {
    return this.#isWithin(larger(this.#shape, this.#smallest(need)));
  }

  /** To be called once before each step; `need` is what runs already. */
  beginStep(need: KvNeed): void {
    this.#numSteps += 1;
    if (this.#numSteps % SHRINK_WINDOW_STEPS !== 0) return;
    this.#shape = larger(this.#peak, this.#comfortable(need));
    this.#peak = this.#comfortable(need);
  }

  /** Gives back all that this does not need. */
  shrinkTo(need: KvNeed): void {
    this.#shape = this.#comfortable(need);
  }

  /** Grows to hold this. `canHold` was asked when its rows were admitted. */
  reserve(need: KvNeed): KvShape {
    const wanted = this.#comfortable(need);
    this.#peak = larger(this.#peak, wanted);
    this.#shape = larger(this.#shape, wanted);
    return this.#shape;
  }

  /** The least that holds it at its final length. */
  #smallest({ numRows, numStagingRows, finalLength }: KvNeed): KvShape {
    return { numSlots: numRows, numStagingRows, capacity: this.#limits.capacityFor(finalLength) };
  }

  /** Enough for now, with slots to spare as long as they will fit at the final length too. */
  #comfortable(need: KvNeed): KvShape {
    const { numRows, length } = need;
    const smallest = this.#smallest(need);
    const wanted = numRows === 0 ? 0 : Math.max(FEWEST_SLOTS, 2 ** Math.ceil(Math.log2(numRows)));
    let numSlots = wanted;
    while (numSlots > numRows && !this.#isWithin({ ...smallest, numSlots })) numSlots -= 1;
    return { ...smallest, numSlots, capacity: this.#limits.capacityFor(length) };
  }

  #isWithin(shape: KvShape): boolean {
    const { bytesPerToken, maxSlotBytes, maxRows = Infinity } = this.#limits;
    if (shape.numSlots > maxRows) return false;
    const slotBytes = shape.numSlots * shape.capacity * bytesPerToken;
    return slotBytes <= maxSlotBytes && this.#bytesOf(shape) <= this.maxBytes;
  }

  #bytesOf({ numSlots, numStagingRows, capacity }: KvShape): number {
    return (numSlots + numStagingRows) * capacity * this.#limits.bytesPerToken;
  }
}

function larger(a: KvShape, b: KvShape): KvShape {
  return {
    numSlots: Math.max(a.numSlots, b.numSlots),
    numStagingRows: Math.max(a.numStagingRows, b.numStagingRows),
    capacity: Math.max(a.capacity, b.capacity),
  };
}
