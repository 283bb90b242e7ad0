import { parseArgs } from 'node:util';

import { BridgeError } from '../base/errors.ts';
import { parseOptions, type CommandLineOptions } from './options.ts';

/** The options of `run-batch`. */
export interface RunBatchOptions {
  /** Path of the rows. */
  readonly input: string;
  /** Path of the results. */
  readonly output: string;
  /** Whether the results that are there are kept. */
  readonly isResumed: boolean;
  readonly server: CommandLineOptions;
}

export const RUN_BATCH_USAGE = `Usage: npx tabserve run-batch -i FILE -o FILE [options]
Answers each row of a file in the format of OpenAI's batches, as vLLM's command of this name does, and ends. It starts a
browser without a window for that. It ends with 0 if every row has an answer, and with 1 otherwise.
  -i, --input-file FILE    a JSON object on each line: custom_id, method, url, body; the url is /v1/completions,
                           /v1/chat/completions or /v1/embeddings
  -o, --output-file FILE   where the results go, in the order of the rows: custom_id, response, error
  --resume                 go on with the rows that have no result in the output file
  --model ID               as for the server, and beside --upstream the model of the rows that name none
  --upstream URL           let this OpenAI-compatible server (vLLM, Ray Serve LLM) answer, without a browser
Also --any-model, --backend, --dtype, --embedder, --hub, --profile and the knobs of the server: see npx tabserve --help.`;

const OWN_OPTIONS = {
  'input-file': { type: 'string', short: 'i' },
  'output-file': { type: 'string', short: 'o' },
  resume: { type: 'boolean' },
  help: { type: 'boolean' },
} as const;

/** This server has no HTTP clients. */
const SERVER = ['--port', '0', '--no-open'];

/** Undefined for `--help`. @throws BridgeError for invalid arguments. */
export function parseRunBatch(args: readonly string[]): RunBatchOptions | undefined {
  const { values, tokens } = parseArgs({
    args: [...args],
    options: OWN_OPTIONS,
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  if (values.help) return undefined;
  const own = new Set<number>();
  for (const token of tokens) {
    if (token.kind !== 'option' || !Object.hasOwn(OWN_OPTIONS, token.name)) continue;
    own.add(token.index);
    if (token.value !== undefined && !token.inlineValue) own.add(token.index + 1);
  }
  checkOnce(tokens.flatMap((token) => (token.kind === 'option' ? [token.name] : [])));
  const others = args.filter((_, index) => !own.has(index));
  const hasUpstream = others.some((arg) => /^--upstream(?:=|$)/.test(arg));
  const server = hasUpstream
    ? others.map((arg) => arg.replace(/^--model(?==|$)/, '--upstream-model'))
    : ['--headless', ...others];
  return {
    input: pathIn(values, 'input-file'),
    output: pathIn(values, 'output-file'),
    isResumed: values.resume === true,
    server: parseOptions([...SERVER, ...server]),
  };
}

/** @throws BridgeError for an option of its own that comes again: the last one would count, without a word. */
function checkOnce(names: readonly string[]): void {
  const twice = names.find((name, at) => Object.hasOwn(OWN_OPTIONS, name) && names.indexOf(name) < at);
  if (twice !== undefined)
    throw new BridgeError(
      'INVALID_ARGUMENT',
      `Expected \`--${twice}\` to be given once.\n${RUN_BATCH_USAGE}`,
    );
}

function pathIn(values: Readonly<Record<string, unknown>>, name: 'input-file' | 'output-file'): string {
  const { [name]: path } = values;
  if (typeof path === 'string' && path !== '') return path;
  throw new BridgeError('INVALID_ARGUMENT', `Expected \`--${name}\` to name a file.\n${RUN_BATCH_USAGE}`);
}
