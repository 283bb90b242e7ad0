import type { Optional } from '../../batching/base/records.ts';
import type { GenerationOptions, GenerationResult } from '../../protocol/generation.ts';
import type { RequestId } from '../../protocol/ids.ts';
import type { Tokenization } from '../../protocol/models.ts';
import type { TabserveStats } from '../../protocol/stats.ts';
import type { BatchingPolicy, TabserveStatus } from '../../protocol/status.ts';

/** Options of a check's requests. */
export type CheckedOptions = GenerationOptions & { readonly signal?: AbortSignal | undefined };

/** The part of a response that a check uses. */
export interface CheckedResponse extends AsyncIterable<{
  readonly tokenIds: readonly number[];
  readonly isRestart?: true;
}> {
  readonly requestId: RequestId;
  result(): Promise<GenerationResult>;
}

/** The part of a client that a check uses. */
export interface CheckedClient {
  getHandle(name: 'text-generator'): {
    remoteAll(
      prompts: readonly (string | readonly number[])[],
      options: CheckedOptions,
    ): readonly CheckedResponse[];
  };
  subscribe(topic: 'stats', listener: (stats: TabserveStats) => void): () => void;
  subscribe(topic: 'requests', listener: (updates: readonly { readonly type: string }[]) => void): () => void;
  overridePolicy(
    knobs: Optional<BatchingPolicy>,
  ): Promise<{ readonly signal: AbortSignal; release(): Promise<void> }>;
  tokenize(text: string): Promise<Tokenization>;
  checkDevice(): Promise<unknown>;
  status(): TabserveStatus;
  ready(): Promise<TabserveStatus>;
  close(): void;
}
