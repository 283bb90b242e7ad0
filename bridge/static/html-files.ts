import { readdirSync, statSync } from 'node:fs';
import { join, sep } from 'node:path';

/** In the order in which `sirv` looks for a file at a path. */
const ENDINGS = ['', '.html', '.htm'];

/** The HTML files of a folder, and the paths that lead to them. */
export class HtmlFiles {
  /** Paths below the root, with slashes. */
  readonly #files: ReadonlySet<string>;

  constructor(root: string) {
    const names = readdirSync(root, { recursive: true, encoding: 'utf8' });
    const isFile = (name: string): boolean =>
      statSync(join(root, name), { throwIfNoEntry: false })?.isFile() ?? false;
    this.#files = new Set(names.filter(isFile).map((name) => `/${name.normalize().replaceAll(sep, '/')}`));
  }

  get names(): readonly string[] {
    return [...this.#files].filter(isHtml).map((path) => path.slice(1));
  }

  /** The file that answers for a path, below the root; undefined if that is no HTML. */
  at(pathname: string): string | undefined {
    const path = decoded(pathname).replace(/\/$/, '');
    const candidates = ENDINGS.flatMap((ending) => [path + ending, `${path}/index${ending}`]);
    const file = candidates.find((candidate) => this.#files.has(candidate));
    return file !== undefined && isHtml(file) ? file.slice(1) : undefined;
  }
}

/** Files that begin with a dot are not served. */
function isHtml(path: string): boolean {
  return /\.html?$/i.test(path) && !/\/\./.test(path);
}

function decoded(pathname: string): string {
  try {
    return decodeURI(pathname);
  } catch {
    return pathname;
  }
}
