/** The most continuations of one request. */
export const MAX_CHOICES = 16;

export const TIMEOUT_RANGE = { above: 0 } as const;

/** Each entry costs the CPU a little in every step. */
export const LOGIT_BIAS_LIMITS = { maxItems: 300, from: -100, to: 100 } as const;
