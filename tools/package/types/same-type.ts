/** Two conditional types are the same only if they test the same type. An alias for one of them would test for less. */
type Same<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? [] : ['These types differ'];

/** Compiles if both types are the same: `any` is the same as `any` only. */
export function sameType<A, B>(..._difference: Same<A, B>): void {}

// @ts-expect-error -- any is not a string
sameType<any, string>();
// @ts-expect-error -- a literal is not every string
sameType<'a', string>();
// @ts-expect-error -- a union has more
sameType<string, string | undefined>();
// @ts-expect-error -- an optional field may be missing
sameType<{ a?: number }, { a: number | undefined }>();
// @ts-expect-error -- read-only
sameType<{ readonly a: number }, { a: number }>();
