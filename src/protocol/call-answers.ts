import * as v from 'valibot';
import { foundModel } from './found-model.ts';
import { ggufFile } from './gguf-file.ts';
import { jobInfo, jobPage } from './jobs.ts';
import { detokenization, precisionPlan, storedModel, suggestedModel, tokenization } from './models.ts';
import { batchKnobs, policy } from './status.ts';
import { objectOf, record, type Wire } from './wire.ts';
import type { WorkerLog } from './worker-log.ts';

const nothing = v.void();

/** The worker's answer to each call of `calls.ts`. Apart from the messages, which a tab needs no schemas of. */
export const CALL_ANSWERS = {
  /** All knobs of that deployment; for the text generator, the users' own. */
  configure: v.union([policy, batchKnobs]),
  /** The knobs in force. */
  'set-override': v.union([policy, batchKnobs]),
  'release-override': nothing,
  /** In Prometheus' text format. */
  metrics: v.string(),
  /** What came since the cursor; all for an empty one. It has 1,000 rows, which are not checked each. */
  'read-log': objectOf<WorkerLog>(),
  /** A string for each token. */
  'token-texts': v.array(v.string()),
  tokenize: tokenization,
  'tokenize-chat': tokenization,
  detokenize: detokenization,
  /** Once the model serves. */
  'load-model': nothing,
  /** Once the model before them serves. */
  'restore-model': nothing,
  /** One plan for each precision. */
  'plan-model': v.array(precisionPlan),
  /** Once the memory is free. */
  'eject-model': nothing,
  'list-models': v.array(storedModel),
  'suggest-models': v.array(suggestedModel),
  'list-gguf-files': v.array(ggufFile),
  'search-models': v.array(foundModel),
  'delete-model': nothing,
  /** A `DeviceCheck`. */
  'check-device': record,
  'list-jobs': v.array(jobInfo),
  'create-job': nothing,
  'add-job-rows': nothing,
  'start-job': nothing,
  'steer-job': nothing,
  'rerun-job-row': nothing,
  'rename-job': nothing,
  'read-job': jobPage,
};

export type CallName = keyof typeof CALL_ANSWERS;

export type CallAnswer<Name extends CallName> = Wire<(typeof CALL_ANSWERS)[Name]>;
