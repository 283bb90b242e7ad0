/** The most continuations of one request. */
export const MAX_CHOICES = 16;

export const TIMEOUT_RANGE = { above: 0 } as const;
