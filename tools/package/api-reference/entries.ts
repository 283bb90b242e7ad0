import manifest from '../../../package.json' with { type: 'json' };

/** An entry of the package, as users import it. */
interface Entry {
  readonly name: string;
  /** Its declarations, relative to the root. */
  readonly types: string;
}

/** All entries that have types, in the order of the package's `exports`. */
export const ENTRIES: readonly Entry[] = Object.entries(manifest.exports).flatMap(([path, target]) =>
  typeof target === 'object'
    ? [{ name: path.replace('.', manifest.name), types: target.types.slice(2) }]
    : [],
);

/** The page of an entry, relative to the reference's folder: `tabserve/worker` -> `worker.md`. */
export function pageOf(name: string): string {
  return `${name.split('/')[1] ?? name}.md`;
}
