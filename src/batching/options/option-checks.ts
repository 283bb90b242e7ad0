import type { GenerationOption, ValueOf } from './option-table.ts';
import { fromNames } from '../base/records.ts';
import { finiteIn, integerIn, integerOrBooleanIn, isBoolean, type Validate } from '../base/validate.ts';
import { jsonRecordIn, stringsIn, tokenIdsIn } from '../base/validate-compound.ts';
import { OPTION_NAMES, optionOf, type OptionsByName } from './generation-options.ts';
import { logitBiasWithin } from './logit-bias.ts';
import { responseFormatIn } from './response-format.ts';
import { isToolChoice, toolsIn } from './tools.ts';

/** The check of each option, as far as it does not depend on the model. */
export const OPTION_CHECKS = /* @__PURE__ */ fromNames<{
  readonly [Name in keyof OptionsByName]: Validate<ValueOf<OptionsByName[Name]>>;
}>(OPTION_NAMES, (name) => checkOf(optionOf(name)));

/** @internal */
export function checkOf(option: GenerationOption): Validate<unknown> {
  switch (option.type) {
    case 'integer':
      return integerIn(option);
    case 'number':
      return finiteIn(option);
    case 'integer-or-boolean':
      return integerOrBooleanIn(option);
    case 'boolean':
      return isBoolean;
    case 'strings':
      return stringsIn(option);
    case 'token-ids':
      return tokenIdsIn(option);
    case 'logit-bias':
      return logitBiasWithin(Infinity);
    case 'json-record':
      return jsonRecordIn(option);
    case 'response-format':
      return responseFormatIn(option);
    case 'tools':
      return toolsIn(option);
    case 'tool-choice':
      return isToolChoice;
  }
}
