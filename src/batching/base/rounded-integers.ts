/** Whether a text spells a number that JavaScript takes for 0, which it isn't. */
export function isVanishing(text: string): boolean {
  return Number(text) === 0 && /^[^e]*[1-9]/i.test(text);
}

/** What an integer has to be, so that it isn't rounded. */
export const UNROUNDED = `an integer from ${Number.MIN_SAFE_INTEGER} to ${Number.MAX_SAFE_INTEGER}, beyond which numbers are rounded`;
