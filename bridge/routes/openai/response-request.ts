import * as v from 'valibot';

import { isRecord } from '../../../src/platform/is-record.ts';
import { HttpError } from '../../../src/protocol/openai/http-error.ts';
import { readFields } from '../../../src/protocol/openai/fields.ts';
import {
  CHAT_NEUTRAL_VALUES,
  chatNamesWith,
  checkContinuation,
  checkTemplateArguments,
  EFFORTS,
  readTools,
  TOOL_FIELDS,
  TOOL_NAMES,
  VERBOSITIES,
  withEffort,
} from '../../../src/protocol/openai/chat-options.ts';
import {
  parseFields,
  readKnownFields,
  readNeutralObject,
  readOptions,
  readSharedFields,
  type GenerationRequest,
  type NeutralValues,
} from '../../../src/protocol/openai/generation-request.ts';
import { readOpenAiFormat } from '../../../src/protocol/openai/response-format.ts';
import { readInput, STORES_NOTHING } from './response-input.ts';

/** A request to `POST /v1/responses`. */
export interface ResponseRequest extends GenerationRequest {
  /** The fields of the answer that repeat those of the request. */
  readonly echoed: object;
}

/** Fields that no value makes acceptable, each with the way out. */
const REFUSED: ReadonlyMap<string, string> = new Map([
  ['previous_response_id', STORES_NOTHING],
  ['conversation', STORES_NOTHING],
  ['prompt', 'no templates are stored here, so send their text in `instructions` and `input`'],
]);

const NEUTRAL_VALUES: NeutralValues = {
  ...CHAT_NEUTRAL_VALUES,
  background: [false],
  truncation: ['disabled'],
  n: [1],
};

/** A summary of no reasoning is empty. */
const SUMMARIES = ['auto', 'concise', 'detailed'];
const NEUTRAL_REASONING: NeutralValues = {
  effort: EFFORTS,
  summary: SUMMARIES,
  generate_summary: SUMMARIES,
};
const NEUTRAL_FORMAT = { type: 'text' };

const LOGPROBS = 'message.output_text.logprobs';
const INCLUDABLE = [LOGPROBS, 'reasoning.encrypted_content'];

/** Fields that the bridge reads itself. All but the first two don't change the answer. */
const OWN_FIELDS = v.object({
  instructions: v.optional(v.string('a text')),
  include: v.optional(v.array(v.picklist(INCLUDABLE, INCLUDABLE.join(' or ')), 'a list of names')),
  max_tool_calls: v.optional(v.number('a number')),
  prompt_cache_key: v.optional(v.string('a text')),
  safety_identifier: v.optional(v.string('a text')),
});

const NAMES = new Map([...chatNamesWith('max_output_tokens')].filter(([name]) => name !== 'n'));

/** With what the answer says where they are left out. */
const ECHOED: readonly (readonly [name: string, missing: unknown])[] = [
  ['instructions', null],
  ['max_output_tokens', null],
  ['max_tool_calls', null],
  ['metadata', {}],
  ['parallel_tool_calls', true],
  ['prompt_cache_key', null],
  ['safety_identifier', null],
  ['temperature', null],
  ['tool_choice', 'auto'],
  ['tools', []],
  ['top_logprobs', 0],
  ['top_p', null],
  ['user', null],
];

/** @throws HttpError 400 */
export function readResponseRequest(body: unknown): ResponseRequest {
  checkRefused(readFields(body));
  const fields = readKnownFields(body, {
    names: NAMES,
    neutral: NEUTRAL_VALUES,
    others: [
      'input',
      'text',
      'reasoning',
      'add_generation_prompt',
      ...TOOL_FIELDS,
      ...Object.keys(OWN_FIELDS.entries),
    ],
    parts: ['text.format', 'reasoning.effort'],
  });
  checkContinuation(fields);
  checkTemplateArguments(fields);
  const { instructions, include = [] } = parseFields(OWN_FIELDS, fields);
  const format = isRecord(fields['text']) ? (fields['text']['format'] ?? NEUTRAL_FORMAT) : NEUTRAL_FORMAT;
  const text = readNeutralObject(fields, 'text', { format: [format], verbosity: VERBOSITIES });
  const responseFormat = readOpenAiFormat('text.format', format);
  const reasoning = readNeutralObject(fields, 'reasoning', NEUTRAL_REASONING);
  const { logprobs: numLogprobs = 0, ...others } = readOptions(fields, NAMES);
  if (numLogprobs !== 0 && !include.includes(LOGPROBS))
    throw HttpError.invalid('top_logprobs', `\`top_logprobs\` goes with \`include: ["${LOGPROBS}"]\` alone.`);
  const options = {
    ...others,
    n: 1,
    ...(include.includes(LOGPROBS) && { logprobs: numLogprobs }),
    ...(responseFormat && { responseFormat }),
    ...readTools(fields, true),
  };
  const chat = readInput(instructions, fields['input']);
  return {
    ...readSharedFields(fields),
    prompts: [chat.messages],
    options: withEffort(options, reasoning['effort']),
    hasPromptLogprobs: false,
    names: new Map([...NAMES, ...TOOL_NAMES, ['responseFormat', 'text.format'], ...chat.names]),
    echoed: {
      ...Object.fromEntries(ECHOED.map(([name, missing]) => [name, fields[name] ?? missing])),
      text: { format, ...text },
      reasoning: { effort: null, summary: null, ...reasoning },
    },
  };
}

/** @throws HttpError 400 */
function checkRefused(fields: Readonly<Record<string, unknown>>): void {
  for (const [name, wayOut] of REFUSED)
    if (fields[name] !== undefined && fields[name] !== null)
      throw HttpError.invalid(name, `\`${name}\` isn't supported: ${wayOut}.`);
}
