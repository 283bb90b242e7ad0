/** The table of generation options for the page and the bridge, which may not import the core. */
export { defaultText, expectedText, optionFromText } from '../batching/generation/option-text.ts';
export {
  checkOf,
  OPTION_NAMES,
  optionOf,
  type GenerationOption,
  type OptionName,
} from '../batching/generation/options.ts';
