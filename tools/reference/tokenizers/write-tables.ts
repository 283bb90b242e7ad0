import { readFileSync, writeFileSync } from 'node:fs';

// Writes src/worker/models/tokenizer/character-tables.ts from what classes.py found, on an engine with Unicode 17.

interface Found {
  readonly classes: Readonly<Record<string, readonly number[]>>;
  /** Texts of the code points that change, by form. */
  readonly changed: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

const TARGET = new URL('../../../src/worker/models/tokenizer/character-tables.ts', import.meta.url);
const COMMENTS: Readonly<Record<string, string>> = {
  PUNCTUATION: "Rust's crate unicode_categories: Unicode 8, and ASCII's symbols.",
  OTHER: 'Control and format characters, those of private use, and U+FFFD.',
  NONSPACING_MARKS: 'General category Mn of Unicode 8.',
  COMBINING_MARKS: 'Those of the crate unicode-normalization-alignments.',
  OPAQUE: 'Characters that JavaScript decomposes or composes, and that crate does not.',
  NEWER: "Characters that Oniguruma's Unicode 16 has not, and U+0295, which was a lowercase letter.",
};

const [source = ''] = process.argv.slice(2);
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by classes.py just now
const { classes, changed } = JSON.parse(readFileSync(source, 'utf8')) as Found;
const opaque = new Set<number>();
for (let code = 0; code < 0x110000; code++) {
  if (code >= 0xd800 && code < 0xe000) continue;
  const character = String.fromCodePoint(code);
  for (const form of ['NFC', 'NFD', 'NFKC', 'NFKD'] as const) {
    const normalized = character.normalize(form);
    if (normalized === (changed[form]?.[code] ?? character)) continue;
    opaque.add(code);
    if (form === 'NFD') opaque.add(normalized.codePointAt(0) ?? 0);
  }
}
const { unassigned = [], ...tables } = classes;
const newer = unassigned.filter((code) => !/\p{Cn}/u.test(String.fromCodePoint(code)));
const all = { ...tables, OPAQUE: [...opaque], NEWER: [0x295, ...newer] };
const lines = Object.entries(all).map(
  ([name, codes]) => `/** ${COMMENTS[name] ?? ''} */\nexport const ${name} =\n  '${packed(codes)}';\n`,
);
writeFileSync(
  TARGET,
  `// Written by tools/reference/tokenizers: classes of characters in \`tokenizers\` 0.23. Pairs of a gap and a length, in base 36.\n\n${lines.join('\n')}`,
);

function packed(codes: readonly number[]): string {
  const entries: string[] = [];
  const sorted = codes.toSorted((a, b) => a - b);
  let last = 0;
  for (let at = 0; at < sorted.length;) {
    const first = sorted[at] ?? 0;
    let end = first;
    while (sorted[at + 1] === end + 1) end = sorted[++at] ?? end;
    at++;
    entries.push((first - last).toString(36) + (end > first ? `,${(end - first).toString(36)}` : ''));
    last = end;
  }
  return entries.join(' ');
}
