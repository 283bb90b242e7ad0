/** Continuations of one request at most. */
export const MAX_CHOICES = 16;

export const TIMEOUT_RANGE = { above: 0 } as const;
