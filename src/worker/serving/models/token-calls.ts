import { InvalidOptionError } from '../../../batching/base/errors.ts';
import type { CallHandlers } from '../../../protocol/calls.ts';
import type { Tokenization } from '../../../protocol/models.ts';
import { inPieces } from '../../../platform/in-pieces.ts';
import { renderOpen } from '../../text-generation/prompt-tokens.ts';
import type { LoadedModel } from '../../runtime/loaded-model.ts';
import { readMessages } from '../../../protocol/read-messages.ts';
import { noChatTemplate } from '../../models/model-errors.ts';

type TokenCall = 'token-texts' | 'tokenize' | 'tokenize-chat' | 'detokenize';

/**
 * Answers the calls about the tokens of the current model.
 *
 * @param whenServed Waits for the first model. Rejects with the reason if no model serves.
 */
export function createTokenCalls(whenServed: () => Promise<LoadedModel>): CallHandlers<TokenCall> {
  return {
    'token-texts': async ({ tokenIds }) => textsOfTokens(tokenIds, await whenServed()),
    async tokenize({ text, addSpecialTokens }) {
      return resultOf(tokenizationOf(text, addSpecialTokens, await whenServed()));
    },
    /** @throws InvalidOptionError, NoChatTemplateError, ChatTemplateError. */
    async 'tokenize-chat'({
      messages,
      addGenerationPrompt,
      continueFinalMessage = false,
      chatTemplateArguments: variables,
      tools = [],
    }) {
      const served = await whenServed();
      const { chatTemplate } = served.tokenizer;
      if (!chatTemplate) throw noChatTemplate(served.modelInfo.id);
      const chat = readMessages(messages);
      const text = continueFinalMessage
        ? renderOpen(chatTemplate, chat, { variables, tools })
        : chatTemplate.render(chat, { variables, tools, addGenerationPrompt });
      return resultOf(tokenizationOf(text, false, served));
    },
    /** @throws InvalidOptionError for an ID outside the vocabulary. */
    async detokenize({ tokenIds }) {
      const { tokenizer, modelInfo } = await whenServed();
      const { id: modelId, vocabSize } = modelInfo;
      const index = tokenIds.findIndex((tokenId) => tokenId >= vocabSize);
      if (index >= 0)
        throw InvalidOptionError.of(`tokens[${index}]`, `a token id below ${vocabSize}`, tokenIds[index]);
      return { modelId, text: tokenizer.vocabulary.decode(tokenIds) };
    },
  };
}

/** '' for a special token, and for every token if no model serves. U+FFFD for a part of a character. */
export function textsOfTokens(
  tokenIds: readonly number[],
  model: LoadedModel | undefined,
): readonly string[] {
  return tokenIds.map((tokenId) => {
    const stream = model?.tokenizer.createTextStream();
    return stream ? stream.push(tokenId) + stream.end() : '';
  });
}

function* tokenizationOf(
  text: string,
  addSpecialTokens: boolean,
  { tokenizer, modelInfo }: LoadedModel,
): Generator<void, Tokenization> {
  const tokenIds = yield* tokenizer.encodeInPieces(text, addSpecialTokens);
  return {
    modelId: modelInfo.id,
    contextLength: modelInfo.contextLength,
    tokenIds,
    spellings: tokenIds.map((tokenId) => tokenizer.vocabulary.spell(tokenId)),
  };
}

/** Works in pieces, so that a short text does not wait for a long one. */
function resultOf<Result>(work: Generator<void, Result>): Result | Promise<Result> {
  const first = work.next();
  return first.done ? first.value : inPieces(work);
}
