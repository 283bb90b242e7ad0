import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'vite';

import { CACHE_FOLDER } from '../reference/python-package.ts';
import type { Group, Subject } from './bench-case.ts';
import { pathOf } from '../paths.ts';
import { UsageError } from './usage-error.ts';

export interface BuiltPage {
  /** The commit, or a name for the working tree. */
  readonly name: string;
  readonly root: string;
}

const execute = promisify(execFile);

/** Builds the page as users get it. Returns its folder. */
export async function buildPage(): Promise<string> {
  await build({ root: pathOf(''), logLevel: 'warn' });
  return pathOf('dist');
}

/** The page of this working tree, after that of the commit to compare it with. */
export async function builtPages(commit: string | undefined): Promise<readonly BuiltPage[]> {
  const before = commit === undefined ? [] : [await pageOfCommit(commit)];
  return [...before, { name: 'working tree', root: await buildPage() }];
}

/** Built once, by the commit's own packages, and kept in the user's cache folder. */
async function pageOfCommit(commit: string): Promise<BuiltPage> {
  const name = await outputOf(['git', 'rev-parse', '--short=10', `${commit}^{commit}`]).catch(() => {
    throw new UsageError(`There is no commit ${commit} here. Name one that \`git log\` shows.`);
  });
  const root = join(CACHE_FOLDER, 'pages', name);
  if (existsSync(root)) return { name, root };
  const tree = `${root}.tree`;
  await mkdir(dirname(root), { recursive: true });
  await rm(tree, { recursive: true, force: true });
  console.log(`Building the page of ${name}. It takes some minutes, once.`);
  await outputOf(['git', 'worktree', 'prune']);
  await outputOf(['git', 'worktree', 'add', '--force', '--detach', tree, name]);
  try {
    await outputOf(['npm', 'ci', '--prefix', tree]);
    await outputOf(['npm', 'exec', '--prefix', tree, '--', 'vite', 'build', tree]);
    await rename(join(tree, 'dist'), root);
  } finally {
    await outputOf(['git', 'worktree', 'remove', '--force', tree]);
  }
  return { name, root };
}

async function outputOf([command = '', ...args]: readonly string[]): Promise<string> {
  const { stdout } = await execute(command, args, { cwd: pathOf('') });
  return stdout.trim();
}

/** The groups of each page as one: a row stands below the same row of the first page, and is compared with it. */
export function besideEachOther(
  pages: readonly { readonly name: string; readonly groups: readonly Group[] }[],
): readonly Group[] {
  const [first, ...others] = pages;
  if (!first || others.length === 0) return first?.groups ?? [];
  return first.groups.map((group, index) => ({
    ...group,
    labels: [...group.labels, 'page'],
    // Own comparisons of a group give way to that of the pages.
    ratio: { header: `over ${first.name}`, column: group.ratio?.column ?? group.columns[0]?.name ?? '' },
    subjects: group.subjects.flatMap((subject, row) => {
      const base = named(subject, first.name);
      const rest = others.flatMap(({ name, groups }) => {
        const other = groups[index]?.subjects[row];
        return other ? [{ ...named(other, name), base }] : [];
      });
      return [base, ...rest];
    }),
  }));
}

function named(subject: Subject, name: string): Subject {
  return { ...subject, labels: [...subject.labels, name], base: 'none' };
}
