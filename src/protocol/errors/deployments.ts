import { shown } from '../../batching/base/errors.ts';
import { codedError } from './coded-error.ts';

/** The prompt has no tokens. */
export class EmptyPromptError extends codedError('EmptyPromptError', 'EMPTY_PROMPT') {
  static of(): EmptyPromptError {
    return new EmptyPromptError(
      'The prompt is empty. Write at least one character for the model to continue.',
    );
  }

  /** @param place Of a text among those for an encoder, as `input[3]`. */
  static ofText(place: string): EmptyPromptError {
    const remedy = place.endsWith(']') ? ', or leave it out' : '';
    return new EmptyPromptError(`\`${place}\` is empty: give it at least one character${remedy}.`);
  }
}

/** The prompt does not fit in the model's context, or leaves no room for a new token. */
export class PromptTooLongError extends codedError('PromptTooLongError', 'PROMPT_TOO_LONG') {
  /**
   * @param amount The prompt's tokens; `at least 600` if counting stopped early.
   * @param contextLength The longest that the model and the device allow, in tokens.
   * @param maxLength The longest prompt, in tokens: the context or the policy's limit, less one token if any are to be generated.
   */
  static of(amount: number | string, contextLength: number, maxLength: number): PromptTooLongError {
    if (maxLength < contextLength - 1) return PromptTooLongError.ofLimit(amount, contextLength, maxLength);
    const room = maxLength < contextLength ? ', of which one is for the continuation' : '';
    return new PromptTooLongError(
      `The prompt has ${amount} tokens, but the model's context holds ${contextLength}${room}: ` +
        `shorten the prompt to ${maxLength} tokens.`,
    );
  }

  /** The policy's limit is shorter than the context. */
  private static ofLimit(
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
  static ofEncoder(place: string, numTokens: number, maxTokens: number): PromptTooLongError {
    return new PromptTooLongError(
      `\`${place}\` has ${numTokens} tokens, but the model reads ${maxTokens}: shorten it, or let it be cut with \`truncate: true\`.`,
    );
  }

  /** @param place Of the longer one of two texts that are read together, as `documents[3]`. */
  static ofPair(place: string, numTokens: number, maxTokens: number): PromptTooLongError {
    return new PromptTooLongError(
      `\`${place}\` and the text beside it have ${numTokens} tokens, but the model reads ${maxTokens}: shorten it, or let it be cut with \`truncate: true\`.`,
    );
  }

  /** @param place Of a text for an encoder that is too long to be tokenized at all. */
  static ofEncoderText(place: string, length: number, maxLength: number): PromptTooLongError {
    return new PromptTooLongError(
      `\`${place}\` has ${length} characters, and the longest that is taken has ${maxLength}: shorten it, or let it be cut with \`truncate: true\`.`,
    );
  }

  /** For a text that is too long to be tokenized at all. */
  static ofText(length: number, maxLength: number): PromptTooLongError {
    return new PromptTooLongError(
      `The prompt has ${length} characters, and the longest that is taken has ${maxLength}: shorten the prompt.`,
    );
  }
}

/** The prompt has a token that the model knows nothing about. */
export class TokenWithoutEmbeddingError extends codedError(
  'TokenWithoutEmbeddingError',
  'TOKEN_WITHOUT_EMBEDDING',
) {
  /** @param numRows Of the embedding. */
  static of(token: string, id: number, numRows: number): TokenWithoutEmbeddingError {
    return new TokenWithoutEmbeddingError(
      `The text has the token ${shown(token)} with the id ${id}, but the model's embedding has ${numRows} rows: leave the token out.`,
    );
  }
}

/** Texts were sent to the embedder or the reranker, which has no model. */
export class NoEncoderError extends codedError('NoEncoderError', 'NO_ENCODER') {
  /** The model that served before can't be loaded again. */
  static ofLoad(deployment: string, cause: unknown): NoEncoderError {
    const reason = cause instanceof Error ? cause.message : String(cause);
    return new NoEncoderError(
      `The ${deployment} has no model: the one before couldn't be loaded (${shown(reason, 300)}). Load it again, or another one, with loadModel().`,
      { cause },
    );
  }

  /** @param example A model of the hub that would serve. */
  static of(deployment: string, example: string): NoEncoderError {
    return new NoEncoderError(
      `The ${deployment} has no model: load one with loadModel(), such as ${example}, or start the server with \`--${deployment} ${example}\`.`,
    );
  }
}

/** The handler of a deployment doesn't end, and all callers of its batch have left. */
export class HandlerHungError extends codedError('HandlerHungError', 'HANDLER_HUNG') {
  /** @param graceMs How long ago the callers left. */
  static of(deployment: string, graceMs: number): HandlerHungError {
    return new HandlerHungError(
      `The handler of \`${shown(deployment)}\` still runs a batch whose callers left ${graceMs / 1000} s ago, so no other batch can run: end what it awaits when its \`signal\` aborts. Until it ends, reload the page that runs it, or raise maxConcurrentBatches.`,
    );
  }
}

/** A deployment answered something over HTTP that JSON hasn't. A page gets it as it is. */
export class AnswerNotJsonError extends codedError('AnswerNotJsonError', 'ANSWER_NOT_JSON') {
  /**
   * @param place In the answer, as `.scores[2]`; empty for all of it.
   * @param what What is there.
   */
  static of(place: string, what: string): AnswerNotJsonError {
    return new AnswerNotJsonError(
      `\`answer${shown(place)}\` is ${shown(what)}, which JSON hasn't: return null, a text or plain data there from the handler, or call the deployment from a page.`,
    );
  }
}

/** No deployment has this name. */
export class UnknownDeploymentError extends codedError('UnknownDeploymentError', 'UNKNOWN_DEPLOYMENT') {
  static of(name: string, known: readonly string[]): UnknownDeploymentError {
    return new UnknownDeploymentError(
      `There is no deployment \`${shown(name)}\`: the deployments are ${known.join(', ')}.`,
    );
  }
}
