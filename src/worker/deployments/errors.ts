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
    return new PromptTooLongError(
      `The prompt has ${numPromptTokens} tokens, but the model's context holds ${contextLength}, ` +
        `of which one is for the continuation: shorten the prompt to ${contextLength - 1} tokens.`,
    );
  }
}
