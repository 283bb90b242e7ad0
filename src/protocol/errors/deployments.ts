import { codedError } from './coded-error.ts';

/** The prompt has no tokens. */
export class EmptyPromptError extends codedError('EmptyPromptError', 'EMPTY_PROMPT') {}

/** The prompt does not fit in the model's context, or leaves no room for a new token. */
export class PromptTooLongError extends codedError('PromptTooLongError', 'PROMPT_TOO_LONG') {}

/** The prompt has a token that the model knows nothing about. */
export class TokenWithoutEmbeddingError extends codedError(
  'TokenWithoutEmbeddingError',
  'TOKEN_WITHOUT_EMBEDDING',
) {}

/** Texts were sent to the embedder or the reranker, which has no model. */
export class NoEncoderError extends codedError('NoEncoderError', 'NO_ENCODER') {}

/** The handler of a deployment doesn't end, and all callers of its batch have left. */
export class HandlerHungError extends codedError('HandlerHungError', 'HANDLER_HUNG') {}

/** A deployment answered something over HTTP that JSON hasn't. A page gets it as it is. */
export class AnswerNotJsonError extends codedError('AnswerNotJsonError', 'ANSWER_NOT_JSON') {}

/** No deployment has this name. */
export class UnknownDeploymentError extends codedError('UnknownDeploymentError', 'UNKNOWN_DEPLOYMENT') {}
