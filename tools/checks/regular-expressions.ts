import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { checkSync } from 'recheck';
import ts from 'typescript-5';

// Each regular expression of the product takes linear time, or reads short texts alone. The first is shown by `recheck`, whose
// verdicts are kept in a file because some take seconds: `--write` asks it about those that are new, and forgets those that are gone.
// The second is written into that file by hand, with the reason.

const FILE = 'tools/checks/regular-expressions.json';
const SOURCES = '{src,bridge,deploy}/**/*.{ts,tsx,js}';
const NO_SOURCE = /\.test\.tsx?$|\/(?:testing|test-support)\b|\.d\.ts$/;
const TIMEOUT_MS = 20_000;

interface Verdicts {
  readonly linear: readonly string[];
  /** Why the texts are short, or why `recheck` is wrong. */
  readonly bounded: Readonly<Record<string, string>>;
}

process.env['RECHECK_SYNC_BACKEND'] = 'pure';
const isWriting = process.argv.includes('--write');
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- this program has written it
const known = JSON.parse(readFileSync(FILE, 'utf8')) as Verdicts;

const linear: string[] = [];
const bounded: Record<string, string> = {};
for (const [expression, file] of expressions()) {
  const reason = known.bounded[expression];
  if (reason !== undefined) bounded[expression] = reason;
  else if (known.linear.includes(expression) || isLinear(expression, file)) linear.push(expression);
}
if (isWriting)
  writeFileSync(FILE, `${JSON.stringify({ linear: linear.toSorted(), bounded }, undefined, 2)}\n`);

/** With the file that has each. */
function expressions(): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const file of globSync(SOURCES).toSorted()) {
    if (NO_SOURCE.test(file)) continue;
    const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest);
    const visit = (node: ts.Node): void => {
      const isMade =
        ts.isNewExpression(node) && ts.isIdentifier(node.expression) && node.expression.text === 'RegExp';
      if (ts.isRegularExpressionLiteral(node) || isMade) found.set(node.getText(source), file);
      ts.forEachChild(node, visit);
    };
    visit(source);
  }
  return found;
}

function isLinear(expression: string, file: string): boolean {
  const end = expression.lastIndexOf('/');
  const verdict = expression.startsWith('/')
    ? checkSync(expression.slice(1, end), expression.slice(end + 1), { timeout: TIMEOUT_MS })
    : undefined;
  if (verdict?.status === 'safe') return true;
  const found = verdict?.status === 'vulnerable' ? verdict.complexity.summary : 'unknown';
  console.error(
    `${file}: ${expression} may take more than linear time (${found}). Write it without parts that match the same text in several ways, or say in "bounded" of ${FILE} why its texts are short. Then: npm run write -- regular-expressions`,
  );
  process.exitCode = 1;
  return false;
}
