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

/** Slots to reserve where there is room, if fewer are in use: freed slots keep prefixes for reuse. */
const FEWEST_SLOTS = 4;
/** Steps that needed less, before memory is given back: long enough to outlast the pauses of a conversation. */
const SHRINK_WINDOW_STEPS = 256;

/**
 * Decides on the shape of the K/V cache. Slots grow in powers of two, and the shape shrinks to the most that a window of
 * steps has needed.
 *
 * Invariant, at every step and for every limit in force (the user's, the device's, `maxSlotBytes`, `maxRows`):
 *
 *     (slots + staging rows) × capacity × bytesPerToken <= maxBytes
 *     slots × capacity × bytesPerToken <= maxSlotBytes,  slots <= maxRows
 *
 * It holds for the shape that is reserved, and also for that shape once every running row has grown to its final length.
 * So `reserve` never has to take a slot away. Only `makeRoom` and `beginStep` take spare rows and spare capacity away,
 * before the scheduler decides which slots a step copies from.
 *
 * The exception is a limit that is lowered below what runs. What runs keeps its memory until it ends: the shape is then
 * the least that holds the running rows now, with nothing to spare, and nothing is admitted beside them.
 */
export class KvMemory {
  readonly #limits: KvCacheLimits;
  #maxBytes: number;
  #shape: KvShape = { numSlots: 0, numStagingRows: 0, capacity: 0 };
  /** The most of each that this window of steps has wanted; the limits are not applied to it. */
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

  /** Binds what is admitted from now on, and all that is spare from the next step on. */
  limitTo(maxBytes: number): void {
    this.#maxBytes = maxBytes;
  }

  /** Memory that a lone sequence takes when it has grown to this length. */
  bytesForOne(finalLength: number): number {
    return this.#bytesOf(this.#final({ numRows: 1, numStagingRows: 1, length: 1, finalLength }));
  }

  /** Whether a lone sequence can grow to this length. */
  canEverHold(finalLength: number): boolean {
    return this.canHold({ numRows: 1, numStagingRows: 1, length: 1, finalLength });
  }

  /** Whether there is memory for this, to the last token, once all that is spare is given back. */
  canHold(need: KvNeed): boolean {
    return this.#isWithin(this.#final(need));
  }

  /** Whether there is memory for this, to the last token, with nothing given back. */
  hasRoomFor(need: KvNeed): boolean {
    return this.#isWithin(larger(this.#shape, this.#final(need)));
  }

  /** Gives back as much of what is spare as this needs, to the last token. False, and nothing is given back, if that is not enough. */
  makeRoom(need: KvNeed): boolean {
    if (!this.canHold(need)) return false;
    if (!this.hasRoomFor(need)) this.#shape = this.#trimmedFor(need);
    return true;
  }

  /** Call it once before each step; `need` is what runs already. */
  beginStep(need: KvNeed): void {
    if (!this.hasRoomFor(need)) this.#shape = this.#trimmedFor(need);
    this.#numSteps += 1;
    if (this.#numSteps % SHRINK_WINDOW_STEPS !== 0) return;
    this.#shape = smaller(this.#shape, larger(this.#peak, this.#wanted(need)));
    this.#peak = this.#wanted(need);
  }

  /** Grows to hold this, with slots to spare where they will fit to the last token. Ask `makeRoom` first. */
  reserve(need: KvNeed): KvShape {
    const wanted = this.#wanted(need);
    this.#peak = larger(this.#peak, wanted);
    const least = larger(this.#shape, this.#now(need));
    this.#shape = this.#withSpareSlots(least, wanted.numSlots, need);
    return this.#shape;
  }

  /** The least that holds it now. */
  #now({ numRows, numStagingRows, length }: KvNeed): KvShape {
    return { numSlots: numRows, numStagingRows, capacity: this.#limits.capacityFor(length) };
  }

  /** The least that holds it to the last token. */
  #final({ numRows, numStagingRows, finalLength }: KvNeed): KvShape {
    return { numSlots: numRows, numStagingRows, capacity: this.#limits.capacityFor(finalLength) };
  }

  /** What is reserved for it where memory is no matter. */
  #wanted(need: KvNeed): KvShape {
    const { numRows } = need;
    const numSlots = numRows === 0 ? 0 : Math.max(FEWEST_SLOTS, 2 ** Math.ceil(Math.log2(numRows)));
    return { ...this.#now(need), numSlots };
  }

  /** The shape without spare staging rows; then with fewer spare slots; then without spare capacity. */
  #trimmedFor(need: KvNeed): KvShape {
    const now = this.#now(need);
    const { numStagingRows } = now;
    const numSlots = Math.min(this.#shape.numSlots, now.numSlots);
    const capacity = Math.min(this.#shape.capacity, now.capacity);
    const shapes = [
      { ...this.#shape, numStagingRows },
      this.#withSpareSlots({ ...this.#shape, numSlots, numStagingRows }, this.#shape.numSlots, need),
    ];
    const trimmed = shapes.find((shape) => this.#isWithin(larger(shape, this.#final(need))));
    return (
      trimmed ?? this.#withSpareSlots({ numSlots, numStagingRows, capacity }, this.#shape.numSlots, need)
    );
  }

  /** The shape with up to `maxSlots` slots, as many as fit when what is needed has grown to its last token. */
  #withSpareSlots(shape: KvShape, maxSlots: number, need: KvNeed): KvShape {
    const final = larger(shape, this.#final(need));
    let numSlots = Math.max(shape.numSlots, maxSlots);
    while (numSlots > shape.numSlots && !this.#isWithin({ ...final, numSlots })) numSlots -= 1;
    return { ...shape, numSlots };
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

function smaller(a: KvShape, b: KvShape): KvShape {
  return {
    numSlots: Math.min(a.numSlots, b.numSlots),
    numStagingRows: Math.min(a.numStagingRows, b.numStagingRows),
    capacity: Math.min(a.capacity, b.capacity),
  };
}
