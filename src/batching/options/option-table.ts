import type { ResponseFormat } from './response-format.ts';
import type { GenerationTool, ToolChoice } from './tools.ts';
import type { LogitBias } from './logit-bias.ts';
import type { NumberRange } from '../base/validate.ts';
import type { JsonRecord, ListBounds, StringBounds, TextBounds } from '../base/validate-compound.ts';

/** The value of each type of option, and its bounds. */
interface Types {
  readonly integer: { readonly value: number; readonly bounds: NumberRange };
  readonly number: { readonly value: number; readonly bounds: NumberRange };
  /** `true` is 0, and `false` is off. */
  readonly 'integer-or-boolean': {
    readonly value: number;
    readonly given: number | boolean;
    readonly bounds: NumberRange;
  };
  readonly boolean: { readonly value: boolean; readonly bounds: object };
  readonly strings: { readonly value: string | readonly string[]; readonly bounds: StringBounds };
  readonly 'token-ids': { readonly value: readonly number[]; readonly bounds: ListBounds };
  readonly 'logit-bias': { readonly value: LogitBias; readonly bounds: ListBounds & NumberRange };
  readonly 'response-format': { readonly value: ResponseFormat; readonly bounds: TextBounds };
  readonly tools: { readonly value: readonly GenerationTool[]; readonly bounds: StringBounds };
  readonly 'tool-choice': { readonly value: ToolChoice; readonly bounds: object };
  readonly 'json-record': { readonly value: JsonRecord; readonly bounds: TextBounds };
}

type OptionOf<Type extends keyof Types> = Types[Type]['bounds'] & {
  readonly type: Type;
  /** In force where neither the request nor the model says otherwise; an option without one is then off. */
  readonly default?: Types[Type]['value'] | 'random';
  /** Its name in OpenAI's API, which vLLM shares. */
  readonly openAi?: string;
  /** Its name in vLLM's API, where OpenAI's lacks it. */
  readonly vllm?: string;
  /** Its name in vLLM's chat API, for an option of chats alone. */
  readonly vllmChat?: string;
  /**
   * The model's own default counts, where the request leaves the option out: its name in `generation_config.json`, or null for
   * one that this file doesn't have.
   */
  readonly generationConfig?: string | null;
  readonly form?: FormField;
};

/** How the page's form asks for an option. Its range may be narrower than the API's. */
interface FormField extends NumberRange {
  readonly label: string;
}

/**
 * An entry of the table of options.
 *
 * @internal
 */
export type GenerationOption = { readonly [Type in keyof Types]: OptionOf<Type> }[keyof Types];
export type OptionTable = Readonly<Record<string, GenerationOption>>;

export type ValueOf<Option extends GenerationOption> = Types[Option['type']]['value'];

/** What a caller may write. */
export type GivenOf<Option extends GenerationOption> = Types[Option['type']] extends {
  readonly given: infer Given;
}
  ? Given
  : ValueOf<Option>;

/** The value of each option that is in force; undefined where the option is off. */
export type Resolved<Table extends OptionTable> = {
  readonly [Name in keyof Table]:
    | ValueOf<Table[Name]>
    | (Table[Name] extends { readonly default: unknown } ? never : undefined);
};
