import { spawnSync } from 'node:child_process';

import { pathOf } from './bench/paths.ts';

// `npm run write -- NAME`: writes the generated files of the repository. `npm run check` says which are out of date.

const FORMAT = 'oxfmt README.md docs';

const MEASUREMENTS = 'node tools/checks/measurements.ts --write';
const ERRORS = 'node tools/checks/error-reference.ts --write';
const OPTIONS = 'node tools/checks/generation-options.ts --write';

/** The commands for each name. */
const COMMANDS: Readonly<Record<string, readonly string[]>> = {
  readme: [MEASUREMENTS, ERRORS, OPTIONS, FORMAT],
  measurements: [MEASUREMENTS, FORMAT],
  errors: [ERRORS, FORMAT],
  options: [OPTIONS, FORMAT],
  api: ['node tools/package/api-reference/main.ts'],
  licenses: ['node tools/checks/third-party-licenses.ts --write'],
  picture: [
    'npm run build && npm run build:tests',
    'playwright test -c e2e playground-picture --project wasm --update-snapshots',
  ],
  pictures: ['node tools/record/main.ts pictures'],
  film: ['node tools/record/main.ts film'],
  decoders: ['python3 tools/reference/decoder/main.py'],
  schemas: ['python3 tools/reference/schemas/main.py'],
  'chat-templates': ['python3 tools/reference/chat-templates/main.py'],
  tokenizers: ['python3 tools/reference/tokenizers/main.py', 'oxfmt src/worker/models/tokenizer'],
  'gpu-check': ['python3 tools/reference/gpu-check/main.py'],
  'regular-expressions': ['node tools/checks/regular-expressions.ts --write'],
  tables: ['python3 tools/reference/tables/main.py'],
};

const USAGE = `Usage: npm run write -- NAME
  measurements  the tables of docs/measurements.md and the README's figures, from bench/*.json
  errors        docs/errors.md
  options       the table of generation options in docs/http-api.md, and those of deploy/ray-serve
  readme        the three above
  api           docs/api, from the docstrings of the package's entries
  licenses      public/third-party-licenses.txt
  picture       .github/page.png, the README's picture
  pictures      docs/pictures, the pictures of the page in docs/
  film          .github/run.webm, the README's film
  decoders      expected values of the generated decoders, from PyTorch
  schemas       what zod and Pydantic write for everyday types
  tokenizers    classes of characters, and expected ids for each component of a tokenizer, from tokenizers
  gpu-check     the values that a GPU is checked with, from PyTorch
  tables        cells of tables and JSON rows, from Python's csv and json
  chat-templates  chats, and templates of one feature each, as huggingface/transformers renders them
  regular-expressions  verdicts on the product's regular expressions, in tools/checks`;

const commands = COMMANDS[process.argv[2] ?? ''];
if (!commands) console.error(USAGE);
process.exitCode = commands?.every(succeeds) ? 0 : 1;

function succeeds(command: string): boolean {
  return spawnSync(command, { cwd: pathOf(''), shell: true, stdio: 'inherit' }).status === 0;
}
