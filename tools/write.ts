import { spawnSync } from 'node:child_process';

import { pathOf } from './paths.ts';

// `npm run write -- NAME`: writes the generated files of the repository. `npm run check` says which are out of date.

const FORMAT = 'oxfmt README.md docs';

const MEASUREMENTS = 'node tools/checks/measurements.ts --write';
const ERRORS = 'node tools/checks/error-reference.ts --write';
const OPTIONS = 'node tools/checks/generation-options.ts --write';
const PROGRAM = 'node tools/checks/program.ts';

const [name = '', model] = process.argv.slice(2);

const WRITERS: Readonly<Record<string, readonly [what: string, ...commands: string[]]>> = {
  measurements: [
    'the tables of docs/measurements and figures of the README, from bench',
    MEASUREMENTS,
    FORMAT,
  ],
  errors: ['docs/errors.md and docs/errors', ERRORS, FORMAT],
  options: ['the table of docs/generation-options.md', OPTIONS, FORMAT],
  readme: ['the three above, and the program', MEASUREMENTS, ERRORS, OPTIONS, `${PROGRAM} --write`, FORMAT],
  program: [
    'the program of a model in docs/cpu-engine.md; with an id of the hub or a folder, prints that of it',
    ...(model === undefined ? [`${PROGRAM} --write`, FORMAT] : [`${PROGRAM} ${JSON.stringify(model)}`]),
  ],
  api: [
    "docs/api, from the docstrings of the package's entries",
    'node tools/checks/api-reference.ts --write',
  ],
  licenses: ['public/third-party-licenses.txt', 'node tools/checks/third-party-licenses.ts --write'],
  picture: [
    ".github/page.png, the README's picture",
    'npm run build && npm run build:tests',
    'playwright test -c e2e playground-picture --project wasm --update-snapshots',
  ],
  pictures: ['docs/pictures', 'node tools/record/main.ts pictures'],
  film: [".github/run.webm, the README's film", 'node tools/record/main.ts film'],
  kernels: ["the CPU engine's modules, from their sources in assembly", 'node tools/site/kernel-modules.ts'],
  'regular-expressions': [
    "verdicts on the product's regular expressions",
    'node tools/checks/regular-expressions.ts --write',
  ],
};

const [, ...commands] = WRITERS[name] ?? ['', `python3 -B tools/reference/write.py ${JSON.stringify(name)}`];
if (name === '') console.error(usage());
process.exitCode = name !== '' && commands.every(succeeds) ? 0 : 1;

function usage(): string {
  return [
    'Usage: npm run write -- NAME',
    ...Object.entries(WRITERS).map(([each, [what]]) => `  ${each.padEnd(20)} ${what}`),
    "or a name in tools/reference/README.md: expected values, from programs that aren't ours.",
  ].join('\n');
}

function succeeds(command: string): boolean {
  return spawnSync(command, { cwd: pathOf(''), shell: true, stdio: 'inherit' }).status === 0;
}
