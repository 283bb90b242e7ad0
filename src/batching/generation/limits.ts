/** Alternatives reported with each token at most. */
export const MAX_LOGPROBS = 20;

/** Continuations of one request at most. */
export const MAX_CHOICES = 16;

export const MAX_SEED = 2 ** 32 - 1;

export const TIMEOUT_RANGE = { above: 0 } as const;
