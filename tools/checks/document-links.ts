import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

import { anchorsOf, withoutCode } from './anchors.ts';

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
