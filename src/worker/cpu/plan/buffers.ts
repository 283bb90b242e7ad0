import type { Op, Program, Value } from '../../models/program/program.ts';

/** Where the rows of a value lie: columns of a buffer that has a row for each token. In float32 values. */
export interface Place {
  readonly buffer: number;
  readonly column: number;
  /** From one row to the next. */
  readonly stride: number;
}

/**
 * Gives out buffers while a program is read, operation by operation: a buffer goes on to other values once nothing reads those in it. So
 * a few buffers do for all layers.
 */
export class Buffers {
  /** Values of a row in each buffer. */
  readonly widths: number[] = [];
  /** The last operation that reads a value. */
  readonly #readers = new Map<Value, Op>();
  readonly #places = new Map<Value, Place>();
  /** Other forms of values that are still read, such as integers. */
  readonly #forms = new Map<Value, Map<string, Place>>();
  /** Values that lie in a buffer. */
  readonly #users = new Map<number, number>();
  readonly #output: Value;

  constructor({ ops, output }: Program) {
    for (const op of ops) for (const input of op.inputs) this.#readers.set(input, op);
    this.#output = output;
  }

  /** The place of a value that an operation before has made. */
  placeOf(value: Value): Place {
    const place = this.#places.get(value);
    if (!place) throw new Error(`${value.name} has no place yet`);
    return place;
  }

  /** Whether an operation may write over its input: nothing reads it later. */
  endsAt(input: Value, op: Op): boolean {
    return this.#readers.get(input) === op && input !== this.#output;
  }

  /** The place of an output; that of the input if it ends with the operation. */
  place(output: Value, over?: { readonly input: Value; readonly by: Op }): Place {
    const place =
      over && this.endsAt(over.input, over.by) ? this.placeOf(over.input) : this.take(output.width);
    if (over && place === this.#places.get(over.input)) this.#use(place);
    this.#places.set(output, place);
    return place;
  }

  /** Outputs side by side in one buffer: the place of all of them. */
  placeTogether(outputs: readonly Value[]): Place {
    const all = this.take(outputs.reduce((sum, output) => sum + output.width, 0));
    this.#placeIn(all, outputs);
    this.release(all);
    return all;
  }

  /** Outputs side by side where an input lies that nothing reads later. */
  placeWithin(input: Value, outputs: readonly Value[]): void {
    this.#placeIn(this.placeOf(input), outputs);
  }

  /** Another form of a value, for as long as the value is read. `make` is called where no operation before has asked for it. */
  formOf(value: Value, form: string, width: number, make: (place: Place) => void): Place {
    const forms = this.#forms.get(value) ?? new Map<string, Place>();
    this.#forms.set(value, forms);
    const made = forms.get(form);
    if (made) return made;
    const place = this.take(width);
    forms.set(form, place);
    make(place);
    return place;
  }

  /** Those that were made of a value are made again where an operation asks for them. */
  forgetForms(value: Value): void {
    for (const place of this.#forms.get(value)?.values() ?? []) this.release(place);
    this.#forms.delete(value);
  }

  /** A buffer until `release`. */
  take(width: number): Place {
    const buffer = this.#choose(width);
    this.widths[buffer] = Math.max(width, this.widths[buffer] ?? 0);
    const place = { buffer, column: 0, stride: width };
    this.#use(place);
    return place;
  }

  release({ buffer }: Place): void {
    this.#users.set(buffer, (this.#users.get(buffer) ?? 0) - 1);
  }

  /** Releases what nothing reads after this operation. */
  endOp(op: Op): void {
    for (const value of new Set([...op.inputs, ...op.outputs])) {
      const reader = this.#readers.get(value);
      if (value === this.#output || (reader !== undefined && reader !== op)) continue;
      this.release(this.placeOf(value));
      this.forgetForms(value);
    }
  }

  #placeIn(all: Place, outputs: readonly Value[]): void {
    let { column } = all;
    for (const output of outputs) {
      this.#use(all);
      this.#places.set(output, { ...all, column });
      column += output.width;
    }
  }

  #use({ buffer }: Place): void {
    this.#users.set(buffer, (this.#users.get(buffer) ?? 0) + 1);
  }

  /** The smallest free buffer that is wide enough, or the widest to be widened, or a new one. */
  #choose(width: number): number {
    const free = [...this.widths.keys()]
      .filter((buffer) => (this.#users.get(buffer) ?? 0) === 0)
      .toSorted((a, b) => (this.widths[a] ?? 0) - (this.widths[b] ?? 0));
    return free.find((buffer) => (this.widths[buffer] ?? 0) >= width) ?? free.at(-1) ?? this.widths.length;
  }
}
