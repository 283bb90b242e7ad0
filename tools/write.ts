import { spawnSync } from 'node:child_process';

import { pathOf } from './paths.ts';

// `npm run write -- NAME`: writes the generated files of the repository. `npm run check` says which are out of date.

const FORMAT = 'oxfmt README.md docs';

const MEASUREMENTS = 'node tools/checks/measurements.ts --write';
const ERRORS = 'node tools/checks/error-reference.ts --write';
const OPTIONS = 'node tools/checks/generation-options.ts --write';
const PROGRAM = 'node tools/checks/program.ts';

/** Expected values from programs that aren't ours, by the names of `tools/reference/write.py`. */
const REFERENCES = [
  'decoders',
  'encoders',
  'checkpoints',
  'gpu-check',
  'int8',
  'gguf',
  'gguf-llama',
  'chat-templates',
  'tokenizers',
  'tables',
  'onnx',
];

/** The commands for each name. */
const COMMANDS: Readonly<Record<string, readonly string[]>> = {
  readme: [MEASUREMENTS, ERRORS, OPTIONS, `${PROGRAM} --write`, FORMAT],
  measurements: [MEASUREMENTS, FORMAT],
  errors: [ERRORS, FORMAT],
  options: [OPTIONS, FORMAT],
  program: process.argv[3]
    ? [`${PROGRAM} ${JSON.stringify(process.argv[3])}`]
    : [`${PROGRAM} --write`, FORMAT],
  api: ['node tools/checks/api-reference.ts --write'],
  licenses: ['node tools/checks/third-party-licenses.ts --write'],
  picture: [
    'npm run build && npm run build:tests',
    'playwright test -c e2e playground-picture --project wasm --update-snapshots',
  ],
  pictures: ['node tools/record/main.ts pictures'],
  film: ['node tools/record/main.ts film'],
  kernels: ['node tools/site/kernel-modules.ts'],
  'regular-expressions': ['node tools/checks/regular-expressions.ts --write'],
  ...Object.fromEntries(REFERENCES.map((name) => [name, [`python3 -B tools/reference/write.py ${name}`]])),
};

const USAGE = `Usage: npm run write -- NAME
  measurements  the tables of docs/measurements.md, of its parts and the README's figures, from bench/*.json
  errors        docs/errors.md and docs/errors
  options       the table of docs/generation-options.md
  readme        the three above, and the program in docs/cpu-engine.md
  program       the program of a model in docs/cpu-engine.md; with an id of the hub or a folder, prints that of it
  api           docs/api, from the docstrings of the package's entries
  licenses      public/third-party-licenses.txt
  picture       .github/page.png, the README's picture
  pictures      docs/pictures, the pictures of the page in docs/
  film          .github/run.webm, the README's film
  kernels       the CPU engine's modules, from src/worker/cpu/kernels/assembly
  regular-expressions  verdicts on the product's regular expressions, in tools/checks
  ${REFERENCES.join(', ')}
                expected values, from programs that aren't ours: tools/reference/README.md`;

const commands = COMMANDS[process.argv[2] ?? ''];
if (!commands) console.error(USAGE);
process.exitCode = commands?.every(succeeds) ? 0 : 1;

function succeeds(command: string): boolean {
  return spawnSync(command, { cwd: pathOf(''), shell: true, stdio: 'inherit' }).status === 0;
}
