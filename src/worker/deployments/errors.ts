/** The prompt has no tokens to continue. */
export class EmptyPromptError extends Error {
  override readonly name = 'EmptyPromptError';
  readonly code = 'EMPTY_PROMPT';

  static of(): EmptyPromptError {
    return new EmptyPromptError(
      'The prompt is empty: write at least one character for the model to continue.',
    );
  }
}

/** The prompt leaves no room for a single new token. */
export class PromptTooLongError extends Error {
  override readonly name = 'PromptTooLongError';
  readonly code = 'PROMPT_TOO_LONG';

  static of(numPromptTokens: number, contextLength: number): PromptTooLongError {
    return PromptTooLongError.#with(String(numPromptTokens), contextLength);
  }

  /** The prompt is so long that its tokens were not counted. */
  static atLeast(numPromptTokens: number, contextLength: number): PromptTooLongError {
    return PromptTooLongError.#with(`at least ${numPromptTokens}`, contextLength);
  }

  static #with(amount: string, contextLength: number): PromptTooLongError {
    return new PromptTooLongError(
      `The prompt has ${amount} tokens, but the model's context holds ${contextLength}, ` +
        `of which one is for the continuation: shorten the prompt to ${contextLength - 1} tokens.`,
    );
  }
}

/** No deployment has this name. */
export class UnknownDeploymentError extends Error {
  override readonly name = 'UnknownDeploymentError';
  readonly code = 'UNKNOWN_DEPLOYMENT';

  static of(name: string, known: readonly string[]): UnknownDeploymentError {
    return new UnknownDeploymentError(
      `There is no deployment \`${name}\`: the deployments are ${known.join(', ')}.`,
    );
  }
}
