const DECIMAL = /^[+-]?(\d*)(?:\.(\d*))?(?:e([+-]?\d+))?$/i;

/** Whether a number of JavaScript can't hold the integer that a text spells, with or without a point or an exponent. */
export function isRounded(text: string): boolean {
  const spelled = text.trim();
  if (/^[+-]?\d{16,}$/.test(spelled)) return BigInt(spelled) !== BigInt(Number(spelled));
  const asked = digitsOf(spelled);
  const held = digitsOf(String(Number(spelled)));
  return asked.exponent >= 0 && (asked.digits !== held.digits || asked.exponent !== held.exponent);
}

/** The digits of a number without the zeros around them, and the power of ten that its last digit counts. */
function digitsOf(text: string) {
  const [, whole = '', fraction = '', power = '0'] = DECIMAL.exec(text) ?? [];
  const digits = (whole + fraction).replace(/^0+/, '');
  let { length } = digits;
  while (digits[length - 1] === '0') length -= 1;
  return {
    digits: digits.slice(0, length),
    exponent: length === 0 ? -1 : Number(power) - fraction.length + digits.length - length,
  };
}

/** Whether a text spells a fraction that JavaScript takes for an integer, which it isn't. */
export function isMadeWhole(text: string): boolean {
  const { digits, exponent } = digitsOf(text.trim());
  return digits !== '' && exponent < 0 && Number.isInteger(Number(text));
}
