import type { ComponentType } from 'react';

import type { ServeStore } from '../../state/serve-store.ts';
import type { Run } from '../../state/run.ts';

/** A run of another time and machine. */
export interface Recording {
  /** Has nothing but this run. */
  readonly store: ServeStore;
  readonly run: Run;
  readonly modelId: string;
  readonly machine: string;
  /** What the same prompts took there without batches. */
  readonly oneAtATimeMs: number;
}

/** A recording with what shows its line and its texts. */
export interface ShownRecording extends Recording {
  readonly Texts: ComponentType<{ readonly recording: Recording }>;
}
