import { existsSync } from 'node:fs';
import { posix } from 'node:path';

import manifest from '../../../package.json' with { type: 'json' };

/** Parts of the manifest that only work in a checkout. */
const OF_THE_CHECKOUT: ReadonlySet<string> = new Set([
  'private',
  'scripts',
  'devDependencies',
  'overrides',
  'allowScripts',
]);

/** In Markdown, or of a picture. */
const LINK = /(?<=\]\(|src="|srcset=")(?!\w+:|#)([^)\s#"]+)(?=[^)\s"]*[)"])/g;

/** @param repository Its address, without a slash at the end; undefined where it isn't known. */
export function publishedManifest(repository: string | undefined): object {
  const kept = Object.entries(manifest).filter(([name]) => !OF_THE_CHECKOUT.has(name));
  return {
    ...Object.fromEntries(kept),
    ...(repository !== undefined && {
      repository: { type: 'git', url: `git+${repository}.git` },
      homepage: `${repository}#readme`,
      bugs: `${repository}/issues`,
    }),
  };
}

/**
 * A document whose links lead to this version in the repository, or where that isn't known, to the package's own files.
 *
 * @param from Path of the document in the repository.
 * @param to Its path in the package.
 */
export function publishedDocument(
  text: string,
  {
    from,
    to,
    repository,
  }: { readonly from: string; readonly to: string; readonly repository: string | undefined },
): string {
  return text.replaceAll(LINK, (link: string) => {
    const target = posix.join(posix.dirname(from), link);
    // Code may look like a link.
    if (!existsSync(target)) return link;
    return repository === undefined
      ? posix.relative(posix.dirname(to), target)
      : `${repository}/${target.endsWith('.webp') ? 'raw' : 'blob'}/v${manifest.version}/${target}`;
  });
}
