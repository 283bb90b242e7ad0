import { useMemo, useState } from 'react';

import type { CsvOptions } from '../../../client/index.ts';
import { Button } from '../../parts/button.tsx';
import { ErrorLine } from '../../parts/error-line.tsx';
import { CheckField, InputField } from '../../parts/field.tsx';
import { Form } from '../../parts/form.tsx';
import { countOf, formatCount } from '../../parts/format.ts';
import { Panel } from '../../parts/panel.tsx';
import { Popover } from '../../parts/popover.tsx';
import { Segments } from '../../parts/segments.tsx';
import { useAttempt } from '../../parts/use-attempt.ts';
import { ChoicesTable } from './choices-table.tsx';
import { describeJob, describeSpeed, describeTotals } from './describe-job.ts';
import { RowsTable } from './rows-table.tsx';
import { saveStream } from './save-stream.ts';
import type { JobView } from './use-jobs.ts';

const FILTERS = [
  ['all', 'All'],
  ['finished', 'Finished'],
  ['failed', 'Failed'],
] as const;

interface ActionsProps {
  readonly view: JobView;
  readonly attempt: ReturnType<typeof useAttempt>['attempt'];
}

/** A job: how far it is, what can be done with it, and its rows. */
export function JobPanel({ view }: { readonly view: JobView }) {
  const { info, isNext } = view;
  const { refusal, attempt } = useAttempt();
  /** Its rows in flight end first. */
  const [isPausing, setIsPausing] = useState(false);
  const isActive = info.state === 'queued' || info.state === 'running';
  if (isPausing && !isActive) setIsPausing(false);
  const pause = async (): Promise<void> => {
    setIsPausing(true);
    setIsPausing(await attempt(() => view.job.pause()));
  };
  const [only, setOnly] = useState<(typeof FILTERS)[number][0]>('all');
  const [search, setSearch] = useState('');
  const filter = useMemo(
    () => ({ ...(only !== 'all' && { only }), ...(search.trim() !== '' && { search: search.trim() }) }),
    [only, search],
  );
  return (
    <Panel
      title={info.name}
      className="job"
      head={<JobActions view={view} attempt={attempt} onPause={isActive ? () => void pause() : undefined} />}
    >
      <div role="alert">
        {refusal && <ErrorLine error={refusal} />}
        {info.error && <ErrorLine error={info.error} />}
      </div>
      <p className="job-state" data-status={info.state}>
        {describeJob(info, isNext, isPausing)}{' '}
        <span className="note">{describeSpeed(info) ?? join(describeTotals(info), info.model)}</span>
      </p>
      <ChoicesTable view={view} />
      <div className="job-filter stack">
        <Segments legend="Which rows" name="job-filter" value={only} choices={FILTERS} onChange={setOnly} />
        <label className="row note">
          Search
          <input
            className="grow"
            type="text"
            placeholder="in the rows and their answers"
            value={search}
            onChange={({ target }) => setSearch(target.value)}
          />
        </label>
      </div>
      <RowsTable key={info.id} view={view} filter={filter} />
    </Panel>
  );
}

function join(...texts: readonly (string | undefined)[]): string {
  return texts.filter((text) => text !== undefined).join(' · ');
}

/** @param onPause Undefined where nothing can be paused. */
function JobActions({
  view,
  attempt,
  onPause,
}: ActionsProps & { readonly onPause: (() => void) | undefined }) {
  const { job, info } = view;
  const { state, counts } = info;
  return (
    <div className="job-actions cluster tight">
      {onPause && (
        <Button variant="small" onClick={onPause}>
          Pause
        </Button>
      )}
      {(state === 'paused' || state === 'cancelled') && (
        <Button variant="small" onClick={() => void attempt(() => job.resume())}>
          Resume
        </Button>
      )}
      {(onPause || state === 'paused') && (
        <Button variant="small" onClick={() => void attempt(() => job.cancel())}>
          Cancel
        </Button>
      )}
      {counts.failed > 0 && (
        <Button variant="small" onClick={() => void attempt(() => job.retryFailed())}>
          Retry {formatCount(counts.failed)} failed
        </Button>
      )}
      <ExportMenu view={view} attempt={attempt} />
      <RenameBox view={view} attempt={attempt} />
      <Popover label="Delete">
        <div className="stack">
          <p>
            Delete {countOf(counts.total, 'row')} and {counts.total === 1 ? 'its answer' : 'their answers'}?
          </p>
          <Button onClick={() => void attempt(() => job.delete())}>Delete this job</Button>
        </div>
      </Popover>
    </div>
  );
}

function ExportMenu({ view: { job, info }, attempt }: ActionsProps) {
  const base = info.name.replace(/\.\w{1,6}$/, '');
  const [csv, setCsv] = useState({ byteOrderMark: false, escapeFormulas: true });
  const save = (format: 'csv' | 'jsonl', options?: CsvOptions): void =>
    void attempt(() => saveStream(`${base}-results.${format}`, job.export(format, options)));
  return (
    <Popover label="Export">
      <div className="stack">
        <CheckField
          label="For Excel"
          hint="Marks the file as UTF-8."
          checked={csv.byteOrderMark}
          onChange={({ target }) => setCsv({ ...csv, byteOrderMark: target.checked })}
        />
        <CheckField
          label="Keep formulas"
          hint="Off, a cell that begins with = + - or @ gets a ' in front, so that no spreadsheet runs it."
          checked={!csv.escapeFormulas}
          onChange={({ target }) => setCsv({ ...csv, escapeFormulas: !target.checked })}
        />
        <Button variant="small" onClick={() => save('csv', csv)}>
          CSV, with all rows
        </Button>
        <Button variant="small" onClick={() => save('jsonl')}>
          JSONL, with the rows that are done
        </Button>
      </div>
    </Popover>
  );
}

function RenameBox({ view: { job, info }, attempt }: ActionsProps) {
  const [name, setName] = useState<string>();
  return (
    <Popover label="Rename">
      <Form onSubmit={() => void attempt(() => job.rename(name ?? info.name))}>
        <InputField
          label="Name"
          hint="Press Enter to keep it."
          value={name ?? info.name}
          onChange={({ target }) => setName(target.value)}
        />
      </Form>
    </Popover>
  );
}
