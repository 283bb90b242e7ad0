import {
  UnsupportedFunctionalityError,
  type LanguageModelV4CallOptions,
  type SharedV4Warning,
} from '@ai-sdk/provider';

import { OPTION_NAMES, UnknownOptionError, type GenerationOptions } from '../index.ts';

/** The key of Tabserve's own options in `providerOptions`, and of its metadata. */
export const PROVIDER = 'tabserve';

/** The AI SDK's name for each setting that has an equivalent option. */
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

/** Options that would add parts that the AI SDK's answers don't have. */
const FORBIDDEN = ['n', 'echo'];
const ALLOWED: readonly string[] = OPTION_NAMES.filter((name) => !FORBIDDEN.includes(name));

/**
 * The options of a call. The worker checks their values.
 *
 * @throws UnsupportedFunctionalityError for an option whose effect an answer of the AI SDK can't show, and UnknownOptionError
 *   for an option that Tabserve doesn't have.
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
  if (unknown !== undefined) throw UnknownOptionError.of(unknown, ALLOWED);
  const given = Object.entries(SETTINGS).flatMap(([setting, option]) => {
    const value = Reflect.get(call, setting);
    return value === undefined ? [] : [[option, value] as const];
  });
  return { ...own, ...Object.fromEntries(given) };
}

/** Warns of settings that have no effect. */
export function warningsOf(call: LanguageModelV4CallOptions): SharedV4Warning[] {
  const warnings: SharedV4Warning[] = [];
  const ignore = (feature: string, details: string): void =>
    void warnings.push({ type: 'unsupported', feature, details });
  if (call.tools && call.tools.length > 0) ignore('tools', 'The model answers without calling tools.');
  if (call.toolChoice?.type === 'required' || call.toolChoice?.type === 'tool')
    ignore('toolChoice', 'The model answers without calling tools.');
  if (call.responseFormat?.type === 'json')
    ignore('responseFormat', 'The answer is free text: ask for JSON in the prompt, and check what comes.');
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
