import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { parseOptions } from '../../bridge/cli/options.ts';
import { parseRunBatch } from '../../bridge/cli/run-batch-options.ts';
import type { CodeBlock } from './code-blocks.ts';

export function commandsOf(code: string): readonly string[] {
  return code
    .replaceAll(/ *\\\n */g, ' ')
    .split('\n')
    .flatMap((line) => line.replace(/(?:^| +)# .*$/, '').split(' && '))
    .map((command) => command.trim())
    .filter((command) => command !== '');
}

/**
 * Checks a command that no test runs as it stands: those of npm are the ones that start the tests, and the others need a
 * second machine or write files of the repository.
 *
 * @throws Error What is wrong with the command.
 */
export function checkCommand(command: string, { document }: Pick<CodeBlock, 'document'>): void {
  const words = [...command.matchAll(/"[^"]*"|'[^']*'|\S+/g)].map(([word]) => word);
  const [program = '', ...args] = words.slice(words.findIndex((word) => !/^\w+=/.test(word)));
  for (const word of args.filter((argument) => /^[a-z][\w-]*\/[\w./-]+\.\w+$/.test(argument)))
    ensure(existsSync(word), `there is no file ${word}`);
  // The package.json of the example that a document describes, or that of the repository.
  const folder = existsSync(join(dirname(document), 'package.json')) ? dirname(document) : '.';
  if (program === 'npm') checkNpm(args, readManifest(folder));
  else if (program === 'npx') checkNpx(args);
  else ensure(OTHER_PROGRAMS.has(program), `no harness knows ${program}`);
}

/** They take files, which are checked. */
const OTHER_PROGRAMS: ReadonlySet<string> = new Set(['node', 'python3', 'pip', 'serve', 'mv', '.']);

const NPM_COMMANDS: ReadonlySet<string> = new Set(['ci', 'install', 'i', 'pack', 'start', 'test', 'run']);

interface Manifest {
  readonly name: string;
  readonly scripts: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

function checkNpm([command = '', ...args]: readonly string[], manifest: Manifest): void {
  ensure(NPM_COMMANDS.has(command), `no harness knows npm ${command}`);
  const script = command === 'run' ? args[0] : command;
  if (command === 'run' || command === 'start' || command === 'test')
    ensure(script !== undefined && script in manifest.scripts, `there is no script ${script}`);
  if (command === 'start') parseOptions(args.slice(1));
  if (command !== 'install' && command !== 'i') return;
  const known = { [readManifest('.').name]: '', ...readManifest('.').devDependencies };
  for (const name of args.filter((argument) => !/^-|\.tgz$/.test(argument)))
    ensure(name.replace(/(?<=.)@\d+$/, '') in known, `no test installs ${name}`);
}

function checkNpx(words: readonly string[]): void {
  const numOptions = words.findLastIndex((word) => word === '-p') + 1;
  const [program = '', ...args] = words.slice(numOptions === 0 ? 0 : numOptions + 1);
  if (program === 'tabserve' && args[0] === 'run-batch') parseRunBatch(args.slice(1));
  else if (program === 'tabserve') parseOptions(args);
  else ensure(existsSync(`node_modules/.bin/${program}`), `there is no program ${program}`);
}

function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
}

function ensure(isSo: boolean, problem: string): void {
  if (!isSo) throw new Error(problem);
}
