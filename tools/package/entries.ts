import manifest from '../../package.json' with { type: 'json' };

interface Entry {
  readonly name: string;
  /** Its declarations, relative to the root. */
  readonly types: string;
  /** Its source, relative to the root. */
  readonly source: string;
  /** Its script in the package's folder, without `.js`. */
  readonly script: string;
}

/** All entries that have types, in the order of the package's `exports`, which is the only list of them. */
export const ENTRIES: readonly Entry[] = Object.entries(manifest.exports).flatMap(([path, target]) =>
  typeof target === 'object' ? [entryOf(path, target)] : [],
);

function entryOf(path: string, target: { readonly types: string; readonly default: string }): Entry {
  return {
    name: path.replace('.', manifest.name),
    types: target.types.slice(2),
    source: target.types.replace('./dist-package/types/', '').replace('.d.ts', '.ts'),
    script: target.default.replace(/^.*\/|\.js$/g, ''),
  };
}
