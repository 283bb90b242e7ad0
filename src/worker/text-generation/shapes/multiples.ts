import type { Machine } from './expressions.ts';
import type { NumberRange } from './number-range.ts';

/** Digits of a number: more are not exact in JavaScript. */
const MAX_DIGITS = 15;

/** All bytes of numbers are between them. */
const [FIRST_BYTE, LAST_BYTE] = [0x2d, 0x39];

/** Multiples in a row that may all be refused, since a division of fractions isn't exact. */
const MAX_TRIED = 1000;

/** The numbers of a range that are multiples of another. */
export class Multiples {
  readonly #range: NumberRange;
  readonly #divisor: number;
  /** Units between two numbers that may be multiples. */
  readonly #step: number;
  readonly #syntax: RegExp;
  /** By the text of a number so far. */
  readonly #places = new Map<string, Place | undefined>();

  /** @param step Between the multiples, in units of the range. */
  constructor(range: NumberRange, divisor: number, step: number) {
    this.#range = range;
    this.#divisor = divisor;
    this.#step = step;
    const decimals = range.numDecimals > 0 ? String.raw`(?:\.\d{0,${range.numDecimals}})?` : '';
    this.#syntax = new RegExp(`^-?(?:(?:0|[1-9]\\d{0,${MAX_DIGITS - 1 - range.numDecimals}})${decimals})?$`);
  }

  /** Undefined where no such number begins so. */
  at(text: string): Machine | undefined {
    if (!this.#places.has(text))
      this.#places.set(text, this.#lives(text) ? new Place(this, text) : undefined);
    return this.#places.get(text);
  }

  isWhole(text: string): boolean {
    return (
      /\d$/.test(text) && !/^-0(?:\.0*)?$/.test(text) && this.#has(Math.round(Number(text) * this.#unit))
    );
  }

  get #unit(): number {
    return 10 ** this.#range.numDecimals;
  }

  /** Whether a number of units is one of them, as validators divide. */
  #has(units: number): boolean {
    const { from, to } = this.#range;
    return units >= from && units <= to && Number.isInteger(units / this.#unit / this.#divisor);
  }

  #lives(text: string): boolean {
    if (!this.#syntax.test(text)) return false;
    const { from, to, numDecimals } = this.#range;
    const sign = text.startsWith('-') ? -1 : 1;
    const digits = sign < 0 ? text.slice(1) : text;
    if (digits === '')
      return this.#hasAny(sign < 0 ? from : Math.max(from, 0), sign < 0 ? Math.min(to, -1) : to);
    const [integer = '', decimals] = digits.split('.');
    const numLeft = numDecimals - (decimals?.length ?? 0);
    const least = Number(integer + (decimals ?? '')) * 10 ** numLeft;
    const numMore = decimals === undefined && integer !== '0' ? MAX_DIGITS - numDecimals - integer.length : 0;
    return Array.from({ length: numMore + 1 }, (_, more) => 10 ** more).some((scale) => {
      const [low, high] = [
        Math.max(least * scale, sign < 0 ? 1 : 0),
        least * scale + 10 ** numLeft * scale - 1,
      ];
      return sign < 0
        ? this.#hasAny(Math.max(from, -high), Math.min(to, -low))
        : this.#hasAny(Math.max(from, low), Math.min(to, high));
    });
  }

  #hasAny(from: number, to: number): boolean {
    const first = Math.ceil(from / this.#step) * this.#step;
    for (let units = first; units <= to && units < first + MAX_TRIED * this.#step; units += this.#step)
      if (this.#has(units)) return true;
    return false;
  }
}

class Place implements Machine {
  readonly isEnd: boolean;
  readonly #numbers: Multiples;
  readonly #text: string;

  constructor(numbers: Multiples, text: string) {
    this.#numbers = numbers;
    this.#text = text;
    this.isEnd = numbers.isWhole(text);
  }

  step(byte: number): Machine | undefined {
    if (byte < FIRST_BYTE || byte > LAST_BYTE) return undefined;
    return this.#numbers.at(this.#text + String.fromCharCode(byte));
  }
}
