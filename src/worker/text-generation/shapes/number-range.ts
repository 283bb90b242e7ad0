/** JSON's numbers between two bounds, without an exponent. */
export interface NumberRange {
  /** The smallest number, in units of the last decimal. */
  readonly from: number;
  /** The largest number, in units of the last decimal. */
  readonly to: number;
  /** The most decimals: 0 for integers. */
  readonly numDecimals: number;
}

/** The numbers of a range as a regular expression, without leading zeros. Zero has no sign. */
export function rangePattern({ from, to, numDecimals }: NumberRange): string {
  const negative = from < 0 ? [`-${unsigned(Math.max(1, -to), -from, numDecimals)}`] : [];
  const others = to >= 0 ? [unsigned(Math.max(0, from), to, numDecimals)] : [];
  return group([...negative, ...others]);
}

/** The numbers between two, both with as many decimals. */
function unsigned(from: number, to: number, numDecimals: number): string {
  const [low, high] = [from, to].map((bound) => String(bound).padStart(numDecimals + 1, '0'));
  const [lowInteger, lowDecimals] = split(low, numDecimals);
  const [highInteger, highDecimals] = split(high, numDecimals);
  const [zeros, nines] = [zerosOf(numDecimals), ninesOf(numDecimals)];
  const whole = (integer: number, least: string, most: string): string =>
    `${integer}${decimals(least, most)}`;
  if (lowInteger === highInteger) return whole(lowInteger, lowDecimals, highDecimals);
  // Integers with all decimals behind them stand in one part.
  const first = lowDecimals === zeros ? lowInteger : lowInteger + 1;
  const last = highDecimals === nines ? highInteger : highInteger - 1;
  return group([
    ...(first > lowInteger ? [whole(lowInteger, lowDecimals, nines)] : []),
    ...(first <= last ? [`${naturals(first, last)}${decimals(zeros, nines)}`] : []),
    ...(last < highInteger ? [whole(highInteger, zeros, highDecimals)] : []),
  ]);
}

function split(digits = '', numDecimals: number): readonly [number, string] {
  const dot = digits.length - numDecimals;
  return [Number(digits.slice(0, dot)), digits.slice(dot)];
}

/** The dot and the decimals between two lists of decimals of the same length, where missing ones are zeros. */
function decimals(low: string, high: string): string {
  if (low === '') return '';
  const some = String.raw`\.${nextDecimal(low, high)}`;
  return isZeros(low) ? `(?:${some})?` : some;
}

/** At least one more decimal. */
function nextDecimal(low: string, high: string): string {
  const [least, most] = [low.slice(1), high.slice(1)];
  const [first, last] = [Number(low[0]), Number(high[0])];
  const [zeros, nines] = [zerosOf(least.length), ninesOf(least.length)];
  if (isZeros(low) && high === ninesOf(high.length)) return `[0-9]{1,${low.length}}`;
  if (first === last) return `${first}${furtherDecimals(least, most)}`;
  return group([
    `${first}${furtherDecimals(least, nines)}`,
    ...(last - first > 1 ? [`[${first + 1}-${last - 1}]${furtherDecimals(zeros, nines)}`] : []),
    `${last}${furtherDecimals(zeros, most)}`,
  ]);
}

function furtherDecimals(low: string, high: string): string {
  if (low === '') return '';
  return isZeros(low) ? `(?:${nextDecimal(low, high)})?` : nextDecimal(low, high);
}

function naturals(from: number, to: number): string {
  const [shortest, longest] = [String(from).length, String(to).length];
  const lengths = Array.from({ length: longest - shortest + 1 }, (_, index) => shortest + index);
  return group(
    lengths.map((length) =>
      ofLength(
        String(length === shortest ? from : 10 ** (length - 1)),
        length === longest ? String(to) : ninesOf(length),
      ),
    ),
  );
}

/** The digits from one number to another of the same length. */
function ofLength(from: string, to: string): string {
  const [first, last] = [Number(from[0]), Number(to[0])];
  const [low, high] = [from.slice(1), to.slice(1)];
  if (low === '') return `[${first}-${last}]`;
  const free = `[0-9]{${low.length}}`;
  if (isZeros(low) && high === ninesOf(high.length)) return `[${first}-${last}]${free}`;
  if (first === last) return `${first}${ofLength(low, high)}`;
  return group([
    `${first}${ofLength(low, ninesOf(low.length))}`,
    ...(last - first > 1 ? [`[${first + 1}-${last - 1}]${free}`] : []),
    `${last}${ofLength(zerosOf(high.length), high)}`,
  ]);
}

function isZeros(digits: string): boolean {
  return digits === zerosOf(digits.length);
}

function zerosOf(length: number): string {
  return '0'.repeat(length);
}

function ninesOf(length: number): string {
  return '9'.repeat(length);
}

function group(alternatives: readonly string[]): string {
  return `(?:${alternatives.join('|')})`;
}
