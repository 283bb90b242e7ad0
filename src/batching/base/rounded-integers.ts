/** Whether a number of JavaScript can't hold the integer that a text spells. */
export function isRounded(text: string): boolean {
  const integer = text.trim();
  return /^[+-]?\d{16,}$/.test(integer) && BigInt(integer) !== BigInt(Number(integer));
}

/** What an integer has to be, so that it isn't rounded. */
export const UNROUNDED = `an integer from ${Number.MIN_SAFE_INTEGER} to ${Number.MAX_SAFE_INTEGER}, beyond which numbers are rounded`;
