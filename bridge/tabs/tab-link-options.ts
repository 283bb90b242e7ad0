import type { BatchingPolicy } from '../../src/protocol/status.ts';

export interface TabLinkOptions {
  /** Where the user can open a tab. */
  readonly url: () => string;
  /** Whether the server opens one itself. */
  readonly isHeadless?: boolean;
  /** How long requests wait for a tab after the start or after the last one closed, in ms. Then they fail at once. */
  readonly graceMs: number;
  /** The default hub of calls that name none; huggingface.co by default. */
  readonly hub?: string | undefined;
  /** Knobs of the text generator that a page begins to serve with, unless somebody has turned its knobs. */
  readonly knobs?: Partial<BatchingPolicy>;
}
