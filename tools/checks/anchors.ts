import { readFileSync } from 'node:fs';

/** The anchors of a Markdown document: its headings, and those that are written out. */
export function anchorsOf(path: string): ReadonlySet<string> {
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

export function withoutCode(markdown: string): string {
  return markdown.replaceAll(/^```.*?^```/gms, '');
}
