/** Upper 32 bits of the 64-bit product, from 16-bit halves: neither JavaScript nor WGSL has it built in. */
export function multiplyHigh(a: number, b: number): number {
  const [aLow, aHigh, bLow, bHigh] = [a & 0xffff, a >>> 16, b & 0xffff, b >>> 16];
  const middle = Math.imul(aHigh, bLow) >>> 0;
  const carried = (Math.imul(aLow, bLow) >>> 16) + (middle & 0xffff) + (Math.imul(aLow, bHigh) >>> 0);
  return (Math.imul(aHigh, bHigh) + (middle >>> 16) + (carried >>> 16)) >>> 0;
}
