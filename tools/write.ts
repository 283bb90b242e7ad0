import { spawnSync } from 'node:child_process';

import { pathOf } from './paths.ts';

// `npm run write -- NAME`: writes the generated files of the repository. `npm run check` says which are out of date.

const FORMAT = 'oxfmt README.md docs';

const writeBy = (check: string): string => `node tools/checks/${check}.ts --write`;
const MEASUREMENTS = writeBy('measurements');
const ERRORS = writeBy('error-reference');
const OPTIONS = writeBy('generation-options');
const PROGRAM = writeBy('program');

const [name = '', model] = process.argv.slice(2);

/** A list runs without a shell: text from the command line stands in lists alone. */
type Command = string | readonly [program: string, ...parameters: string[]];

const WRITERS: Readonly<Record<string, readonly [what: string, ...commands: Command[]]>> = {
  measurements: ['tables of docs/measurements and figures of the README, from bench', MEASUREMENTS, FORMAT],
  errors: ['docs/errors.md and docs/errors', ERRORS, FORMAT],
  options: ['the table of docs/generation-options.md', OPTIONS, FORMAT],
  readme: ['the three above, and the program', MEASUREMENTS, ERRORS, OPTIONS, PROGRAM, FORMAT],
  program: [
    'the program of a model in docs/cpu-engine.md; with an id of the hub or a folder, prints that of it',
    ...(model === undefined
      ? [PROGRAM, FORMAT]
      : [[process.execPath, 'tools/checks/program.ts', model] as const]),
  ],
  api: ["docs/api, from the docstrings of the package's entries", writeBy('api-reference')],
  licenses: ['public/third-party-licenses.txt', writeBy('third-party-licenses')],
  picture: [
    ".github/page.png, the README's picture",
    'npm run build && npm run build:tests',
    'playwright test -c e2e playground-picture --project wasm --update-snapshots',
  ],
  pictures: ['docs/pictures', 'node tools/record/main.ts pictures'],
  recording: ['the run that the page shows before the first press', 'node tools/record/run.ts'],
  film: [".github/run.webm, the README's film", 'node tools/record/main.ts film'],
  kernels: ["the CPU engine's modules, from their sources in assembly", 'node tools/site/kernel-modules.ts'],
  'regular-expressions': ["verdicts on the product's regular expressions", writeBy('regular-expressions')],
};

const REFERENCE: Command = ['python3', '-B', 'tools/reference/write.py', name];
const [, ...commands] = (Object.hasOwn(WRITERS, name) ? WRITERS[name] : undefined) ?? ['', REFERENCE];
if (name === '') console.error(usage());
process.exitCode = name !== '' && commands.every(succeeds) ? 0 : 1;

function usage(): string {
  return [
    'Usage: npm run write -- NAME',
    ...Object.entries(WRITERS).map(([each, [what]]) => `  ${each.padEnd(20)} ${what}`),
    "or a name in tools/reference/README.md: expected values, from programs that aren't ours.",
  ].join('\n');
}

function succeeds(command: Command): boolean {
  const options = { cwd: pathOf(''), stdio: 'inherit' } as const;
  if (typeof command === 'string') return spawnSync(command, { ...options, shell: true }).status === 0;
  const [program, ...parameters] = command;
  const { status, error } = spawnSync(program, parameters, options);
  if (error) console.error(`Couldn't run ${program}: ${error.message}`);
  return status === 0;
}
