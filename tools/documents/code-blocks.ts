import { globSync, readFileSync } from 'node:fs';

/** What runs a code block. A block's fence names one of them behind its language, as in "```js page". */
export const HARNESSES = {
  /** In the console of the built page, statement by statement. `chat`: a chat model has been loaded. */
  page: 'e2e/documents.spec.ts',
  /** In a shell: curl beside an open page, other commands are checked. `chat`: a chat model has been loaded. */
  shell: 'e2e/documents.spec.ts',
  /** A file of this repository, by its path. */
  checkout: 'e2e/support/documents.ts',
  /** A file of a static site, by its name. */
  site: 'e2e/static-site.spec.ts',
  /** A file of an app that Vite builds, by its name. */
  vite: 'e2e/package/tests/documents.ts',
  /** A file of a page without a bundler, by its name. */
  plain: 'e2e/package/tests/documents.ts',
  /** The Content-Security-Policy of such a page and its worker. */
  policy: 'e2e/package/tests/documents.ts',
  /** By Node, beside the installed package. */
  node: 'e2e/package/tests/documents.ts',
  /** A file of an app of this framework, by its path. */
  next: 'e2e/package/tests/frameworks.ts',
  sveltekit: 'e2e/package/tests/frameworks.ts',
  nuxt: 'e2e/package/tests/frameworks.ts',
  /** By Python, beside an open page. */
  python: 'tools/test-python/clients/test_documents.py',
  /** By nothing: the rest of the mark says why. */
  shown: '',
} as const;

export type Harness = keyof typeof HARNESSES;

export interface CodeBlock {
  readonly document: string;
  /** Of its fence, from 1. */
  readonly line: number;
  readonly language: string;
  /** A `Harness`, or what stands in its place. */
  readonly harness: string;
  /** The rest of the mark: a file, `chat` or a reason. */
  readonly argument: string;
  readonly code: string;
}

/** The documents that people write. The API reference is generated, and the changelog tells what was. */
export const DOCUMENTS: readonly string[] = globSync(
  ['*.md', 'docs/{,measurements/}*.md', '{deploy,examples}/**/*.md', 'tools/package/README.md'],
  {
    exclude: (path) => path.includes('node_modules') || path === 'CHANGELOG.md',
  },
).toSorted();

export function codeBlocksOf(document: string): readonly CodeBlock[] {
  const text = readFileSync(document, 'utf8');
  return [...text.matchAll(/^( *)```(.*)\n([^]*?)^\1```$/gm)].map((match) => {
    const [, indent = '', info = '', code = ''] = match;
    const [language = '', harness = '', ...rest] = info.split(' ');
    return {
      document,
      line: text.slice(0, match.index).split('\n').length,
      language,
      harness,
      argument: rest.join(' '),
      code: code.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    };
  });
}

export function codeBlocksFor(harness: Harness): readonly CodeBlock[] {
  return DOCUMENTS.flatMap(codeBlocksOf).filter((block) => block.harness === harness);
}

/** For messages. */
export const placeOf = ({ document, line }: CodeBlock): string => `${document}:${line}`;
