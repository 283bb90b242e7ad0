import {
  UnsupportedFunctionalityError,
  type LanguageModelV4CallOptions,
  type SharedV4Warning,
} from '@ai-sdk/provider';

import { OPTION_NAMES, type GenerationOptions } from '../index.ts';
import { unknownOption } from '../../batching/base/unknown-option-error.ts';

/** The key of Tabserve's own options in `providerOptions`, and of its metadata. */
export const PROVIDER = 'tabserve';

/** The AI SDK's name of each setting that has an option of the same meaning. */
const SETTINGS = {
  maxOutputTokens: 'maxNewTokens',
  temperature: 'temperature',
  topP: 'topP',
  topK: 'topK',
  presencePenalty: 'presencePenalty',
  frequencyPenalty: 'frequencyPenalty',
  stopSequences: 'stop',
  seed: 'seed',
} as const satisfies Partial<Record<keyof LanguageModelV4CallOptions, keyof GenerationOptions>>;

/** Options that change the shape of an answer. */
const FORBIDDEN = ['n', 'echo'];
const ALLOWED: readonly string[] = OPTION_NAMES.filter((name) => !FORBIDDEN.includes(name));

/**
 * The options of a call. The worker checks their values.
 *
 * @throws UnsupportedFunctionalityError for an option of Tabserve that an answer of the AI SDK has no place for, and
 *   UnknownOptionError for one that Tabserve hasn't.
 */
export function readSettings(call: LanguageModelV4CallOptions): GenerationOptions {
  const own = call.providerOptions?.[PROVIDER] ?? {};
  const forbidden = FORBIDDEN.find((name) => name in own);
  if (forbidden !== undefined) {
    throw new UnsupportedFunctionalityError({
      functionality: `providerOptions.${PROVIDER}.${forbidden}`,
      message: `The AI SDK has no place for \`${forbidden}\`: leave it out of providerOptions.${PROVIDER}.`,
    });
  }
  const unknown = Object.keys(own).find((name) => !ALLOWED.includes(name));
  if (unknown !== undefined) throw unknownOption(unknown, ALLOWED);
  const given = Object.entries(SETTINGS).flatMap(([setting, option]) => {
    const value = Reflect.get(call, setting);
    return value === undefined ? [] : [[option, value] as const];
  });
  return { ...own, ...Object.fromEntries(given), ...readFormat(call), ...readTools(call) };
}

function readFormat({ responseFormat }: LanguageModelV4CallOptions): GenerationOptions {
  if (responseFormat?.type !== 'json') return {};
  const { schema, name } = responseFormat;
  return {
    responseFormat: schema ? { type: 'json_schema', schema: { ...schema }, name } : { type: 'json_object' },
  };
}

function readTools({ tools = [], toolChoice }: LanguageModelV4CallOptions): GenerationOptions {
  const functions = tools.filter((tool) => tool.type === 'function');
  if (functions.length === 0) return {};
  return {
    tools: functions.map(({ name, description, inputSchema }) => ({
      name,
      ...(description !== undefined && { description }),
      parameters: { ...inputSchema },
    })),
    ...(toolChoice && {
      toolChoice: toolChoice.type === 'tool' ? { name: toolChoice.toolName } : toolChoice.type,
    }),
  };
}

/** Warns of parts of a call that have no effect. */
export function warningsOf(call: LanguageModelV4CallOptions): SharedV4Warning[] {
  const warnings: SharedV4Warning[] = [];
  const ignore = (feature: string, details: string): void =>
    void warnings.push({ type: 'unsupported', feature, details });
  for (const tool of call.tools ?? [])
    if (tool.type === 'provider') ignore(tool.id, 'Tabserve has no tools of its own: pass a function.');
  if (call.reasoning !== undefined && call.reasoning !== 'provider-default')
    ignore(
      'reasoning',
      `Set what the model's chat template knows in providerOptions.${PROVIDER}.chatTemplateArguments.`,
    );
  // The AI SDK adds its own name to each call.
  if (
    Object.entries(call.headers ?? {}).some(
      ([name, value]) => value !== undefined && name.toLowerCase() !== 'user-agent',
    )
  )
    ignore('headers', 'There is no HTTP between the page and its worker.');
  return warnings;
}
