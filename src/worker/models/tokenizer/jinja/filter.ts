import type { Arguments, Bound, Value } from './values.ts';

export interface Filter {
  /** Undefined for a filter that reads its arguments itself. */
  readonly params: readonly string[] | undefined;
  readonly run: (value: Value, args: Bound, given: Arguments, calls: Calls) => Value;
}

/** Filters and tests that are called by a name that is a value. */
export interface Calls {
  filter(name: string, value: Value, args: Arguments): Value;
  test(name: string, value: Value, args: Arguments): boolean;
}
