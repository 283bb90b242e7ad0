import { httpNameOf, optionOf, type GenerationOptions, type OptionName } from '../../../client/index.ts';
import { keysOf } from '../../parts/keys-of.ts';

/** A request of the page, to be sent from elsewhere. */
export interface CodedRequest {
  readonly prompt: string;
  readonly options: GenerationOptions;
  /** The model's ID. */
  readonly model: string;
  /** The address of the HTTP API, without a slash at its end. */
  readonly server: string;
}

type Values = Readonly<Record<string, unknown>>;

/** By the language's name. */
export const REQUEST_CODES = {
  curl: (request: CodedRequest): string => {
    const { prompt, options, model, server } = request;
    const { known, further } = httpOptions(options);
    const body = JSON.stringify({ model, prompt, ...known, ...further });
    return [
      `curl ${server}/v1/completions -H 'Content-Type: application/json' \\`,
      `  -d '${body.replaceAll("'", String.raw`'\''`)}'`,
    ].join('\n');
  },

  JavaScript: ({ prompt, options, model }: CodedRequest): string =>
    [
      "import { connect } from 'tabserve';",
      '',
      "const worker = () => new Worker(new URL('tabserve/default-worker', import.meta.url), { type: 'module' });",
      `const serve = await connect({ worker, model: ${JSON.stringify(model)} });`,
      `const response = serve.generate(${JSON.stringify(prompt)}${secondArgument(options)});`,
      'for await (const { text } of response) document.body.append(text);',
    ].join('\n'),

  Python: ({ prompt, options, model, server }: CodedRequest): string => {
    const { known, further } = httpOptions(options);
    const extra = Object.keys(further).length > 0 ? { extra_body: further } : {};
    const values = { model, prompt, ...known, ...extra };
    return [
      'from openai import OpenAI',
      '',
      `client = OpenAI(base_url=${JSON.stringify(`${server}/v1`)}, api_key="none")`,
      'completion = client.completions.create(',
      ...Object.entries(values).map(([name, value]) => `    ${name}=${toPython(value)},`),
      ')',
      'print(completion.choices[0].text)',
    ].join('\n');
  },

  'AI SDK': ({ prompt, options, model }: CodedRequest): string =>
    [
      "import { generateText } from 'ai';",
      "import { createTabserve } from 'tabserve/ai-sdk';",
      '',
      "const worker = () => new Worker(new URL('tabserve/default-worker', import.meta.url), { type: 'module' });",
      'const tabserve = createTabserve({ worker });',
      'const { text } = await generateText({',
      `  model: tabserve.completion(${JSON.stringify(model)}),`,
      `  prompt: ${JSON.stringify(prompt)},`,
      ...(Object.keys(options).length > 0
        ? [`  providerOptions: { tabserve: ${JSON.stringify(options)} },`]
        : []),
      '});',
    ].join('\n'),
} as const;

/** By their names over HTTP: those that OpenAI's clients know, and vLLM's. */
function httpOptions(options: GenerationOptions): { readonly known: Values; readonly further: Values } {
  const named = (isKnown: boolean): Values =>
    Object.fromEntries(
      keysOf(options).flatMap((name: OptionName) => {
        const option = optionOf(name);
        const httpName = httpNameOf(option);
        const isOpenAi = option.openAi !== undefined;
        return httpName === undefined || isOpenAi !== isKnown ? [] : [[httpName, options[name]]];
      }),
    );
  return { known: named(true), further: named(false) };
}

function secondArgument(options: GenerationOptions): string {
  return Object.keys(options).length === 0 ? '' : `, ${JSON.stringify(options)}`;
}

/** JSON's values are Python's but for three. */
function toPython(value: unknown): string {
  if (value === true) return 'True';
  if (value === false) return 'False';
  if (value === null || value === undefined) return 'None';
  if (Array.isArray(value)) return `[${value.map(toPython).join(', ')}]`;
  if (typeof value !== 'object') return JSON.stringify(value);
  const entries = Object.entries(value).map(([name, part]) => `${JSON.stringify(name)}: ${toPython(part)}`);
  return `{${entries.join(', ')}}`;
}
