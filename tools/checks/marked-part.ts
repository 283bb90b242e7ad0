import { readFile, writeFile } from 'node:fs/promises';

/** Parts of a document that a script writes, each between `<!-- name -->` and `<!-- /name -->`. */
export type Parts = Readonly<Record<string, string>>;

/** With `--write` on the command line, writes the parts; else fails the process if they differ from the document. */
export async function updateParts(path: string, parts: Parts): Promise<void> {
  const document = await readFile(path, 'utf8');
  const current = Object.entries(parts).reduce(
    (text, [name, content]) => replacePart(path, text, name, content),
    document,
  );
  if (process.argv.includes('--write')) {
    await writeFile(path, current);
  } else if (normalize(document) === normalize(current)) {
    console.log(`${path}: the generated parts are current.`);
  } else {
    console.error(`${path}: the generated parts are out of date. Run \`npm run write -- readme\`.`);
    process.exitCode = 1;
  }
}

function replacePart(path: string, text: string, name: string, content: string): string {
  const [start, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
  const [from, to] = [text.indexOf(start), text.indexOf(end)];
  if (from === -1 || to < from) throw new Error(`${path} has no place ${start} … ${end}`);
  return text.slice(0, from + start.length) + content + text.slice(to);
}

/** The formatter pads tables and wraps lines. */
function normalize(text: string): string {
  return text.replaceAll(/\s+/g, ' ').replaceAll(/-{3,}/g, '---');
}
