import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

// Links between documents lead to files that are there, and to headings that are in them.

const documents = globSync(['*.md', 'docs/**/*.md', '{deploy,examples,tools,public}/**/*.md'], {
  exclude: (path) => path.includes('node_modules'),
});
const dead = documents.flatMap((document) =>
  linksOf(document)
    .filter((link) => !isAlive(document, link))
    .map((link) => `${document}: ${link}`),
);
for (const line of dead) console.error(`Dead link in ${line}`);
if (dead.length === 0) console.log(`Links of ${documents.length} documents: all alive.`);
else process.exitCode = 1;

function linksOf(document: string): readonly string[] {
  const text = withoutCode(readFileSync(document, 'utf8'));
  return [...text.matchAll(/(?:\]\(|src="|srcset=")([^)"\s]+)[)"]/g)]
    .map(([, link = '']) => link)
    .filter((link) => !/^\w+:/.test(link));
}

function isAlive(document: string, link: string): boolean {
  const [path = '', heading] = link.split('#');
  const target = path === '' ? document : normalize(join(dirname(document), path));
  return existsSync(target) && (heading === undefined || anchorsOf(target).has(heading));
}

/** The anchors of a Markdown document: its headings, and those that are written out. */
function anchorsOf(path: string): ReadonlySet<string> {
  const text = withoutCode(readFileSync(path, 'utf8'));
  const headings = [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchorOf(heading));
  const explicit = [...text.matchAll(/<a id="([^"]+)">/g)].map(([, id = '']) => id);
  return new Set([...headings, ...explicit]);
}

/** The anchor that GitHub makes for a heading. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');
}

function withoutCode(markdown: string): string {
  return markdown.replaceAll(/^```.*?^```/gms, '');
}
