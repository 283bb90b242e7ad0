/** The message names what was given and the remedy: it's printed without a stack. */
export class UsageError extends Error {}
