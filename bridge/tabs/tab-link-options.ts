export interface TabLinkOptions {
  /** Where the user can open a tab. */
  readonly url: () => string;
  /** How long requests wait for a tab after the start or after the last one closed, in ms. Then they fail at once. */
  readonly graceMs: number;
  /** The default hub of calls that name none; huggingface.co by default. */
  readonly hub?: string | undefined;
}
