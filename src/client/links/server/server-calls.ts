import * as v from 'valibot';
import { InvalidOptionError } from '../../../batching/base/errors.ts';
import { isBoolean, isWholeText } from '../../../batching/base/validate.ts';
import { tokenIdsIn } from '../../../batching/base/validate-compound.ts';
import { OPTION_CHECKS } from '../../../batching/options/option-checks.ts';
import { lengthOfChat } from '../../../protocol/chat.ts';
import type { Detokenization, Tokenization } from '../../../protocol/models.ts';
import { messageBody, toolsBody } from '../../../protocol/openai/answer-body.ts';
import type { ServerModel } from '../../../protocol/openai/server-model.ts';
import { readMessages } from '../../../protocol/read-messages.ts';
import { badAnswer, notAtServer } from '../../../protocol/server-errors.ts';
import { count, MAX_PROMPT_LENGTH, MAX_TEXT_LENGTH, MAX_TOKEN_IDS } from '../../../protocol/wire.ts';
import type { Outgoing } from '../link.ts';
import type { ServerHttp } from './server-http.ts';

type Call = Extract<Outgoing, { readonly callId: number }>;
type Http = Pick<ServerHttp, 'shownUrl' | 'json'>;
type TokenCall = 'tokenize' | 'tokenize-chat' | 'detokenize';

const IN_TAB = 'or connect to a model in the tab: connect({ worker })';
const KNOBS = ['How requests are batched is up to', `set it there, ${IN_TAB}`] as const;
const MODELS = [
  'Which models there are is up to',
  `name one of them: connect({ server, model }), ${IN_TAB}`,
] as const;
/** What a server is not asked for, up to its address, and what to do instead. */
const OTHERS: Partial<Record<Call['type'], readonly [what: string, remedy: string]>> = {
  'read-log': [
    'Who calls it, and how much it does, is known to',
    `look at its own log and its /metrics, ${IN_TAB}`,
  ],
  'token-texts': [
    'The text of each token by itself is not told by',
    `call detokenize() with the tokens of a text, ${IN_TAB}`,
  ],
  'check-device': [
    'No model of this machine serves: texts come from',
    'to check one, connect to a model in the tab: connect({ worker })',
  ],
};

const tokens = v.object({
  tokens: v.array(count),
  max_model_len: v.optional(count, 0),
  token_strs: v.optional(v.nullable(v.array(v.string()))),
});

const text = v.object({ prompt: v.string() });

const isTokenIds = tokenIdsIn({ maxItems: MAX_TOKEN_IDS });

export function isTokenCall(call: Call): call is Extract<Call, { type: TokenCall }> {
  return call.type === 'tokenize' || call.type === 'tokenize-chat' || call.type === 'detokenize';
}

/** The error of a call that no server answers. */
export function refusalOf({ type }: Call, url: string): Error {
  const isKnob = type === 'configure' || type.endsWith('override');
  const [what, remedy] = isKnob ? KNOBS : (OTHERS[type] ?? MODELS);
  return notAtServer(url, what, remedy);
}

/** Asks the server, in vLLM's words. */
export async function answerTokenCall(
  call: Extract<Call, { type: TokenCall }>,
  http: Http,
  { modelId }: ServerModel,
): Promise<Tokenization | Detokenization> {
  const { signal } = new AbortController();
  const model = modelId;
  if (call.type === 'detokenize') {
    const body = { model, tokens: isTokenIds('tokenIds', call.tokenIds) };
    const answer = v.safeParse(text, await http.json('/detokenize', body, signal));
    if (answer.success) return { modelId, text: answer.output.prompt };
    throw badAnswer(http.shownUrl, '/detokenize with something that is not a text');
  }
  const body = { model, return_token_strs: true, ...promptOf(call) };
  const answer = v.safeParse(tokens, await http.json('/tokenize', body, signal));
  if (!answer.success)
    throw badAnswer(http.shownUrl, '/tokenize with something that is not a list of tokens');
  const { tokens: tokenIds, max_model_len: contextLength, token_strs: spellings } = answer.output;
  return { modelId, contextLength, tokenIds, spellings: spellings ?? [] };
}

function promptOf(call: Extract<Call, { type: 'tokenize' | 'tokenize-chat' }>): object {
  if (call.type === 'tokenize') {
    const { addSpecialTokens } = call;
    const prompt = isWholeText('text', call.text);
    requireLength('text', prompt.length, MAX_TEXT_LENGTH);
    return { prompt, add_special_tokens: isBoolean('addSpecialTokens', addSpecialTokens) };
  }
  const { addGenerationPrompt, continueFinalMessage = false, chatTemplateArguments, tools = [] } = call;
  if (!Array.isArray(call.messages)) throw InvalidOptionError.of('messages', 'a list', call.messages);
  const messages = readMessages(call.messages);
  requireLength('messages', lengthOfChat(messages), MAX_PROMPT_LENGTH);
  return {
    messages: messages.map(messageBody),
    add_generation_prompt: isBoolean('addGenerationPrompt', addGenerationPrompt),
    ...(isBoolean('continueFinalMessage', continueFinalMessage) && { continue_final_message: true }),
    chat_template_kwargs: OPTION_CHECKS.chatTemplateArguments('chatTemplateArguments', chatTemplateArguments),
    ...toolsBody({
      tools: OPTION_CHECKS.tools('tools', tools),
      toolChoice: 'auto',
      parallelToolCalls: true,
    }),
  };
}

/** As the worker refuses it. */
function requireLength(option: string, length: number, maxLength: number): void {
  if (length > maxLength)
    throw InvalidOptionError.of(option, `at most ${maxLength} characters`, `${length} characters`);
}
