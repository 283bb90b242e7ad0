import { RequestTimeoutError, shown } from '../../batching/base/errors.ts';
import {
  AnswerNotJsonError,
  EmptyPromptError,
  HandlerHungError,
  NoEncoderError,
  PromptTooLongError,
  TokenWithoutEmbeddingError,
  UnknownDeploymentError,
} from './deployments.ts';

// A tab makes the worker's errors again from their codes, without what is said here.

export function emptyPrompt(): EmptyPromptError {
  return new EmptyPromptError('The prompt is empty. Write at least one character for the model to continue.');
}

/** The `timeoutMs` of a request, which ends. */
export function requestTimedOut(timeoutMs: number): RequestTimeoutError {
  return new RequestTimeoutError(
    `The request did not finish within ${timeoutMs} ms and was ended. ` +
      'Raise timeoutMs, or ask for fewer tokens.',
  );
}

/** @param place Of a text among those for an encoder, as `input[3]`. */
export function emptyText(place: string): EmptyPromptError {
  const remedy = place.endsWith(']') ? ', or leave it out' : '';
  return new EmptyPromptError(`\`${place}\` is empty: give it at least one character${remedy}.`);
}

/**
 * @param amount The prompt's tokens; `at least 600` if counting stopped early.
 * @param contextLength The longest that the model and the device allow, in tokens.
 * @param maxLength The longest prompt, in tokens: the context or the policy's limit, less one token if any are to be generated.
 */
export function promptTooLong(
  amount: number | string,
  contextLength: number,
  maxLength: number,
): PromptTooLongError {
  if (maxLength < contextLength - 1) return promptOverLimit(amount, contextLength, maxLength);
  const room = maxLength < contextLength ? ', of which one is for the continuation' : '';
  return new PromptTooLongError(
    `The prompt has ${amount} tokens, but the model's context holds ${contextLength}${room}: ` +
      `shorten the prompt to ${maxLength} tokens.`,
  );
}

/** The policy's limit is shorter than the context. */
function promptOverLimit(
  amount: number | string,
  contextLength: number,
  maxLength: number,
): PromptTooLongError {
  return new PromptTooLongError(
    `The prompt has ${amount} tokens, but maxContextLength leaves ${maxLength} of the model's ${contextLength}: ` +
      `shorten the prompt to ${maxLength} tokens, or raise maxContextLength.`,
  );
}

/** @param place Of a text among those for an encoder, as `input[3]`. */
export function textTooLong(place: string, numTokens: number, maxTokens: number): PromptTooLongError {
  return new PromptTooLongError(
    `\`${place}\` has ${numTokens} tokens, but the model reads ${maxTokens}: shorten it, or let it be cut with \`truncate: true\`.`,
  );
}

/** @param place Of the longer one of two texts that are read together, as `documents[3]`. */
export function pairTooLong(place: string, numTokens: number, maxTokens: number): PromptTooLongError {
  return new PromptTooLongError(
    `\`${place}\` and the text beside it have ${numTokens} tokens, but the model reads ${maxTokens}: shorten it, or let it be cut with \`truncate: true\`.`,
  );
}

/** @param place Of a text for an encoder that is too long to be tokenized at all. */
export function textTooLongToRead(place: string, length: number, maxLength: number): PromptTooLongError {
  return new PromptTooLongError(
    `\`${place}\` has ${length} characters, and the longest that is taken has ${maxLength}: shorten it, or let it be cut with \`truncate: true\`.`,
  );
}

/** For a text that is too long to be tokenized at all. */
export function promptTooLongToRead(length: number, maxLength: number): PromptTooLongError {
  return new PromptTooLongError(
    `The prompt has ${length} characters, and the longest that is taken has ${maxLength}: shorten the prompt.`,
  );
}

/** @param numRows Of the embedding. */
export function tokenWithoutEmbedding(
  token: string,
  id: number,
  numRows: number,
): TokenWithoutEmbeddingError {
  return new TokenWithoutEmbeddingError(
    `The text has the token ${shown(token)} with the id ${id}, but the model's embedding has ${numRows} rows: leave the token out.`,
  );
}

/** The model that served before can't be loaded again. */
export function encoderNotLoaded(deployment: string, cause: unknown): NoEncoderError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new NoEncoderError(
    `The ${deployment} has no model: the one before couldn't be loaded (${shown(reason, 300)}). Load it again, or another one, with loadModel().`,
    { cause },
  );
}

/** @param example A model of the hub that would serve. */
export function noEncoder(deployment: string, example: string): NoEncoderError {
  return new NoEncoderError(
    `The ${deployment} has no model: load one with loadModel(), such as ${example}, or start the server with \`--${deployment} ${example}\`.`,
  );
}

/** @param graceMs How long ago the callers left. */
export function handlerHung(deployment: string, graceMs: number): HandlerHungError {
  return new HandlerHungError(
    `The handler of \`${shown(deployment)}\` still runs a batch whose callers left ${graceMs / 1000} s ago, so no other batch can run: end what it awaits when its \`signal\` aborts. Until it ends, reload the page that runs it, or raise maxConcurrentBatches.`,
  );
}

/**
 * @param place In the answer, as `.scores[2]`; empty for all of it.
 * @param what What is there.
 */
export function answerNotJson(place: string, what: string): AnswerNotJsonError {
  return new AnswerNotJsonError(
    `\`answer${shown(place)}\` is ${shown(what)}, which JSON hasn't: return null, a text or plain data there from the handler, or call the deployment from a page.`,
  );
}

export function unknownDeployment(name: string, known: readonly string[]): UnknownDeploymentError {
  return new UnknownDeploymentError(
    `There is no deployment \`${shown(name)}\`: the deployments are ${known.join(', ')}.`,
  );
}
