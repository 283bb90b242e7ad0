import { systemClock } from '../../batching/base/clock.ts';
import { mayComeLater } from '../may-come-later.ts';
import { rowReader, isGenerated, toResult, type RowRequest } from '../read-row.ts';
import { RowRunner, type RowRead, type RowServer } from '../row-runner.ts';
import { asRequestId, type RequestId } from '../../protocol/ids.ts';
import type { JobProgress, JobResult } from '../../protocol/jobs.ts';
import { LearnedTexts } from '../../protocol/openai/learned-texts.ts';
import type { RequestUpdate } from '../../protocol/requests.ts';
import type { WireError } from '../../protocol/wire.ts';
import { toWireError } from '../../protocol/wire-errors.ts';
import type { ComparedModel } from '../../protocol/served-model.ts';
import { modelObstacle } from './job-model.ts';
import type { StoredJob } from './stored-job.ts';

/** The worker's deployments, as a job uses them. */
export interface JobServer extends Pick<RowServer<RowRequest>, 'numRowsFor'> {
  submit(requestId: RequestId, request: RowRequest): void;
  cancel(requestId: RequestId): void;
  /** By the model that serves. */
  tokenTexts(tokenIds: readonly number[]): Promise<readonly string[]>;
}

interface JobListener {
  onChange(): void;
  /** The job can't go on for now, for this reason. The runner has stopped. */
  onBlocked(error: WireError): void;
}

/** Runs the rows of one job as requests of this worker. */
export class JobRunner {
  readonly job: StoredJob;
  readonly #server: JobServer;
  readonly #listener: JobListener;
  readonly #rows: RowRunner<RowRequest, JobResult, WireError>;
  /** A result is read when another model may serve. */
  readonly #tokens: LearnedTexts;
  /** Of its requests. The same at the next worker, which may have to refuse a row that has ended several workers. */
  readonly #idPrefix: string;
  /** Since when the time isn't added to the job's. */
  #countedAtMs = systemClock.now();
  #hasBegun = false;
  #endRows = (): void => {};

  constructor(job: StoredJob, server: JobServer, listener: JobListener) {
    this.job = job;
    this.#server = server;
    this.#listener = listener;
    this.#idPrefix = `job-${job.definition.id}-${job.numRetries}-`;
    this.#tokens = new LearnedTexts((tokenIds) => server.tokenTexts(tokenIds).catch(() => []));
    this.#rows = new RowRunner(
      {
        numRows: job.numRows,
        isPending: (index) => job.isPending(index),
        reader: () => this.#createReader(),
        save: (results) => job.save(results),
      },
      {
        numRowsFor: (deployment) => server.numRowsFor(deployment),
        submit: (index, request) => server.submit(this.#idOf(index), request),
      },
      {
        onSaved: () => {
          this.#addTime(false);
          listener.onChange();
        },
        onWaiting: (error) => this.#block(error),
        onFailed: (error) => this.#block(toWireError(error)),
      },
    );
  }

  get progress(): JobProgress {
    const { total, finished, failed } = this.job.counts;
    return this.#rows.progress(total - finished - failed);
  }

  run(): void {
    this.#rows.run();
  }

  receive(updates: readonly RequestUpdate[]): void {
    for (const update of updates) {
      const { requestId } = update;
      const index = Number(requestId.slice(this.#idPrefix.length));
      if (requestId === this.#idOf(index) && this.#rows.deploymentOf(index)) this.#apply(update, index);
    }
  }

  /** Rows in flight are dropped, and run again later. */
  stop(): void {
    this.#endRows();
    const inFlight = this.#rows.stop();
    this.#addTime(true);
    for (const index of inFlight) this.#server.cancel(this.#idOf(index));
  }

  #idOf(index: number): RequestId {
    return asRequestId(`${this.#idPrefix}${index}`);
  }

  #apply(update: RequestUpdate, index: number): void {
    switch (update.type) {
      case 'started':
      case 'restarted':
        if (this.#rows.deploymentOf(index) === this.job.definition.deployment) this.#checkModel(update.model);
        break;
      case 'finished':
      case 'answered': {
        const { result } = update;
        const logprobs = isGenerated(result) ? result.choices.flatMap((choice) => choice.logprobs ?? []) : [];
        const finish = (): void =>
          this.#finish(index, toResult(this.job.definition, result, this.#tokens.textOf));
        const learning = this.#tokens.learn(logprobs);
        if (learning) void learning.then(finish);
        else finish();
        break;
      }
      case 'failed':
        if (mayComeLater(update.error))
          this.#rows.wait(index, update.error, update.error.details?.['retryAfterMs']);
        else this.#finish(index, resultOf(update.error));
        break;
      case 'accepted':
      case 'echo':
      case 'chunk':
        break;
    }
  }

  #finish(index: number, result: JobResult): void {
    this.#rows.finish(index, result, result.numOutputTokens || result.numPromptTokens);
  }

  /** The status of the worker may name the new model only later. */
  #checkModel(serving: ComparedModel): void {
    const obstacle = this.job.model && modelObstacle(this.job.model, serving);
    if (obstacle) this.#block(obstacle);
  }

  /** @throws StorageQuotaError, JobStoreError. */
  #createReader(): (index: number) => RowRead<RowRequest, JobResult> {
    const { job } = this;
    const { definition } = job;
    this.#beginRows();
    const [inputs, readRow] = [job.inputs(), rowReader(definition)];
    const shared = (definition.template ?? '').length + (definition.system ?? '').length;
    return (index) => {
      const json = inputs.textOf(index);
      const length = json.length + shared;
      try {
        return { length, request: readRow(job.seedOf(index), json) };
      } catch (error) {
        return { length, result: resultOf(toWireError(error)) };
      }
    };
  }

  /**
   * Notes on the disk that rows are prepared, until the worker gets to something else. The first ones are enough: the next worker
   * begins with those that have ended this one.
   */
  #beginRows(): void {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    this.job.beginRows();
    const cancelTimer = systemClock.setTimer(0, () => this.#endRows());
    this.#endRows = () => {
      cancelTimer();
      this.#endRows = () => {};
      this.job.endRows();
    };
  }

  #addTime(isLast: boolean): void {
    const now = systemClock.now();
    this.job.addTime(now - this.#countedAtMs, isLast);
    this.#countedAtMs = now;
  }

  #block(error: WireError): void {
    this.stop();
    this.#listener.onBlocked(error);
  }
}

function resultOf(error: WireError): JobResult {
  return { numPromptTokens: 0, numOutputTokens: 0, error };
}
