import { isMadeWhole } from '../../src/batching/base/lost-digits.ts';
import { parseOrderedJson } from '../../src/batching/base/ordered-json.ts';
import { shown } from '../../src/batching/base/errors.ts';
import type { TabserveClient } from '../../src/client/client.ts';
import { expectedText, optionFromText } from '../../src/batching/options/option-text.ts';
import { OPTION_NAMES, optionOf } from '../../src/batching/options/generation-options.ts';
import { packOrdered } from '../../src/protocol/wire-text.ts';
import { HttpError } from '../../src/protocol/openai/http-error.ts';
import { checkSignal, readInput, readQuery, type Input } from '../http/read-input.ts';
import type { Route } from '../http/router.ts';

/** Options that may come several times. */
const LISTS = OPTION_NAMES.filter((name) => optionOf(name).type === 'strings');
const SINGLES = OPTION_NAMES.filter((name) => !LISTS.includes(name));

/**
 * `/?text=…` by GET or POST, as in the tutorials. A POST may send the fields in its body instead. The answer is the text, or the
 * whole result as JSON for a client that accepts JSON.
 */
export function generateRoute(serve: TabserveClient): Route {
  const generate: Route['methods']['GET'] = async (exchange) => {
    const { text, options } = readRequest(await readInput(exchange, 'text'));
    exchange.checkPriority(options['priority']);
    const { signal, request } = exchange;
    const isJson = request.headers.accept?.includes('application/json') ?? false;
    if (!isJson && (options['n'] ?? 1) !== 1)
      throw HttpError.invalid(
        'n',
        'An answer as text is one continuation: for `n`, send `Accept: application/json`.',
      );
    const result = await serve
      .getHandle('text-generator', exchange.turnOf())
      .remote(text, { ...packOrdered(options), ...(!isJson && { n: 1 }), signal })
      .result();
    if (isJson) exchange.sendJson(200, result);
    else exchange.send(200, 'text/plain; charset=utf-8', result.text);
  };
  return {
    path: '/',
    methods: { GET: generate, POST: generate },
    isWork: true,
    isFor: ({ method }, { searchParams }) => method === 'POST' || searchParams.has('text'),
  };
}

function readRequest({ params, json: { text: jsonText, ...jsonOptions } }: Input): {
  readonly text: string;
  readonly options: Readonly<Record<string, unknown>>;
} {
  const { text = jsonText } = readQuery(params, ['text', ...SINGLES], LISTS);
  if (typeof text !== 'string') {
    const got = text === undefined ? 'nothing' : `\`${shown(JSON.stringify(text))}\``;
    throw HttpError.invalid('text', `Expected \`text\` to be a prompt, got ${got}.`);
  }
  checkSignal(jsonOptions);
  // JSON values have a type already, and the worker checks them.
  return { text, options: { ...jsonOptions, ...readOptions(params) } };
}

/** Converts the texts of a query or a form to the options' types. */
function readOptions(params: URLSearchParams): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    OPTION_NAMES.flatMap((name) => {
      const [text, ...others] = params.getAll(name);
      if (text === undefined) return [];
      const option = optionOf(name);
      const value =
        option.type === 'strings' ? [text, ...others] : optionFromText(option, text, parseOrderedJson);
      if (value !== undefined && !(typeof value === 'number' && isMadeWhole(text))) return [[name, value]];
      throw HttpError.expected(name, expectedText(option), text);
    }),
  );
}
