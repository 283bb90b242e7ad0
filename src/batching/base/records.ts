/** The keys of a record that has no others. */
export function keysOf<Record extends object>(record: Record): readonly (keyof Record & string)[] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- these records have no other keys
  return Object.keys(record) as (keyof Record & string)[];
}

/** @param make Returns the value of each name. */
export function fromNames<Values>(
  names: readonly (keyof Values & string)[],
  make: (name: keyof Values & string) => unknown,
): Values {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `make` gives each name its value
  return Object.fromEntries(names.map((name) => [name, make(name)])) as Values;
}

/** Options that may be left out. Undefined counts as left out. */
export type Optional<Options> = { readonly [Name in keyof Options]?: Options[Name] | undefined };
