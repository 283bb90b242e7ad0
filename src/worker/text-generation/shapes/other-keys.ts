/**
 * Keys beside those that a schema lists. The library would take the listed ones again there, with any value that the others may have.
 * So such an object refers to its `additionalProperties`: by the name of that reference its keys are found in the printed grammar.
 */
export class OtherKeys {
  readonly #listed: (readonly string[])[] = [];
  /** Schemas of values, for the `$defs` of the whole schema. */
  readonly definitions: Record<string, unknown> = {};

  /** A reference to the schema of the values beside these keys. */
  refer(keys: readonly string[], schema: unknown): unknown {
    const name = nameOf(this.#listed.length);
    this.#listed.push(keys);
    this.definitions[name] = schema;
    return { $ref: `#/$defs/${name}` };
  }

  /** The printed grammar of the schema, without the listed keys where others stand. */
  withoutListed(printed: string): string {
    return this.#listed.reduce((text, keys, index) => {
      // None where nothing leads to the object.
      const rules = text.matchAll(
        new RegExp(String.raw`^(\S+_addl) ::= \(\(defs_${nameOf(index)}\)\)$`, 'gm'),
      );
      return Array.from(rules).reduce(
        (rest, [, values]) =>
          rest.replaceAll(`basic_string ": " ${values} `, () => `${keysBeside(keys)} ": " ${values} `),
        text,
      );
    }, printed);
  }
}

/** Of letters alone: the library leaves digits out of the names of its rules. */
function nameOf(index: number): string {
  return `valuesBeside${Array.from(String(index), (digit) => 'abcdefghij'[Number(digit)]).join('')}`;
}

/** The characters of a key: none that is escaped. */
const ANY = String.raw`[^\0-\x1f\"\\]*`;

/** In EBNF: the strings of JSON that are none of these keys. An escape could spell one of them, so there is none. */
function keysBeside(keys: readonly string[]): string {
  return String.raw`"\"" ${restBeside(keys.map((key) => Array.from(key)))} "\""`;
}

/** The library recurses into groups. A longer key is followed so far, and no other one begins like it any longer. */
const MAX_DEPTH = 32;

/** @param rests The characters that are left of each key, behind `depth` ones. */
function restBeside(rests: readonly (readonly string[])[], depth = 0): string {
  const listed = rests.filter(([first]) => first !== undefined);
  if (listed.length === 0) return rests.length === 0 ? ANY : `${otherThan([])} ${ANY}`;
  const byFirst = Map.groupBy(listed, ([first = '']) => first);
  const firsts = [...byFirst.keys()];
  const followed = depth < MAX_DEPTH ? [...byFirst] : [];
  const goesOn = followed.map(([first, group]) => {
    const further = group.map((rest) => rest.slice(1));
    return `"${first}" ${restBeside(further, depth + 1)}`;
  });
  const ends = listed.length < rests.length ? [] : ['""'];
  return `(${[...ends, `${otherThan(firsts)} ${ANY}`, ...goesOn].join(' | ')})`;
}

/** One character. The library gets sets with characters beyond ASCII wrong: where one is excluded, all beyond ASCII are. */
function otherThan(characters: readonly string[]): string {
  const isWide = characters.some((character) => character > '\x7f');
  const excluded = new Set(['"', '\\', ...characters]);
  const printable = Array.from({ length: 0x5f }, (_, index) => String.fromCharCode(0x20 + index));
  if (isWide) return `[${inSet(printable.filter((character) => !excluded.has(character)))}]`;
  return String.raw`[^\0-\x1f${inSet([...excluded])}]`;
}

function inSet(characters: readonly string[]): string {
  return characters.map((character) => String.raw`\x${character.charCodeAt(0).toString(16)}`).join('');
}
