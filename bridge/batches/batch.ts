import * as v from 'valibot';

import { recordOf } from '../../src/protocol/wire.ts';
import { BATCH_URLS } from './rows.ts';

const time = v.optional(v.number());

const problem = v.object({
  code: v.string(),
  line: v.nullable(v.number()),
  message: v.string(),
  param: v.nullable(v.string()),
});

const usage = v.object({
  input_tokens: v.number(),
  input_tokens_details: v.object({ cached_tokens: v.number() }),
  output_tokens: v.number(),
  output_tokens_details: v.object({ reasoning_tokens: v.number() }),
  total_tokens: v.number(),
});

/** OpenAI's object of a batch. `expired` is missing: a batch waits for a tab as long as it takes. */
export const batchObject = v.object({
  id: v.string(),
  object: v.literal('batch'),
  endpoint: v.picklist(BATCH_URLS),
  errors: v.nullable(v.object({ object: v.literal('list'), data: v.array(problem) })),
  input_file_id: v.string(),
  completion_window: v.string(),
  status: v.picklist([
    'validating',
    'failed',
    'in_progress',
    'finalizing',
    'completed',
    'cancelling',
    'cancelled',
  ]),
  output_file_id: v.nullable(v.string()),
  error_file_id: v.nullable(v.string()),
  created_at: v.number(),
  in_progress_at: time,
  finalizing_at: time,
  completed_at: time,
  failed_at: time,
  cancelling_at: time,
  cancelled_at: time,
  request_counts: v.object({ total: v.number(), completed: v.number(), failed: v.number() }),
  usage: v.optional(usage),
  metadata: v.nullable(recordOf(v.string())),
});

export type BatchObject = v.InferOutput<typeof batchObject>;

const ENDED: ReadonlySet<BatchObject['status']> = new Set(['failed', 'completed', 'cancelled']);

export function hasEnded({ status }: BatchObject): boolean {
  return ENDED.has(status);
}
