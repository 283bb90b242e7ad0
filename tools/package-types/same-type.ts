type Same<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? [] : ['These types differ'];

/** Compiles if both types are the same: `any` is the same as `any` only. */
export function sameType<A, B>(..._: Same<A, B>): void {}
