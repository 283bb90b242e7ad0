/** The library accepts wrong integers in ranges, so a constant stands for each range until the grammar is printed. */
export function rangeMarker(minimum: number, maximum: number): string {
  return `integers from ${minimum} to ${maximum}`;
}

/** The printed grammar of a schema with the ranges in place of their markers. */
export function withRanges(printed: string): string {
  return printed.replaceAll(/"\\"integers from (-?\d+) to (-?\d+)\\""/g, (_, minimum, maximum) =>
    rangeEbnf(Number(minimum), Number(maximum)),
  );
}

/** The integers from `minimum` to `maximum` in EBNF, without leading zeros. */
export function rangeEbnf(minimum: number, maximum: number): string {
  const negative = minimum < 0 ? [`"-" ${naturals(Math.max(1, -maximum), -minimum)}`] : [];
  const others = maximum >= 0 ? [naturals(Math.max(0, minimum), maximum)] : [];
  return `(${[...negative, ...others].join(' | ')})`;
}

function naturals(from: number, to: number): string {
  const [shortest, longest] = [String(from).length, String(to).length];
  const lengths = Array.from({ length: longest - shortest + 1 }, (_, index) => shortest + index);
  const parts = lengths.map((length) =>
    ofLength(
      String(length === shortest ? from : 10 ** (length - 1)),
      length === longest ? String(to) : '9'.repeat(length),
    ),
  );
  return `(${parts.join(' | ')})`;
}

/** The digits from one number to another of the same length. */
function ofLength(from: string, to: string): string {
  const [first, last] = [from.charAt(0), to.charAt(0)];
  const [low, high] = [from.slice(1), to.slice(1)];
  if (low === '') return `[${first}-${last}]`;
  const free = `[0-9]{${low.length}}`;
  if (/^0*$/.test(low) && /^9*$/.test(high)) return `[${first}-${last}] ${free}`;
  if (first === last) return `"${first}" ${group(ofLength(low, high))}`;
  const between =
    Number(last) - Number(first) > 1 ? [`[${Number(first) + 1}-${Number(last) - 1}] ${free}`] : [];
  return [
    `"${first}" ${group(ofLength(low, '9'.repeat(low.length)))}`,
    ...between,
    `"${last}" ${group(ofLength('0'.repeat(high.length), high))}`,
  ].join(' | ');
}

function group(alternatives: string): string {
  return `(${alternatives})`;
}
