/** The table of generation options for the page and the bridge, which may not import the core. */
export { defaultText, expectedText, optionFromText } from '../batching/options/option-text.ts';
export type { GenerationOption } from '../batching/options/option-table.ts';
export { checkOf } from '../batching/options/option-checks.ts';
export {
  httpNameOf,
  OPTION_NAMES,
  optionOf,
  type OptionName,
} from '../batching/options/generation-options.ts';
