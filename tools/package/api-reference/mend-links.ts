import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { anchorsOf } from '../../checks/anchors.ts';

/**
 * Drops the numbers of anchors that nothing on the page has. The renderer counts `TabserveClient.status` and `TabserveStatus` as the same name,
 * though only one of them is a heading of that name.
 */
export function mendLinks(path: string): void {
  const page = readFileSync(path, 'utf8');
  const mended = page.replaceAll(
    /\]\((\w*(?:\.md)?)#([\w-]+?)-\d+\)/g,
    (link, file: string, anchor: string) => {
      const anchors = anchorsOf(file === '' ? path : join(dirname(path), file));
      return !anchors.has(link.slice(link.indexOf('#') + 1, -1)) && anchors.has(anchor)
        ? `](${file}#${anchor})`
        : link;
    },
  );
  writeFileSync(path, mended);
}
