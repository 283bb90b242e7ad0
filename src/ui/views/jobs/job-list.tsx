import { Button } from '../../parts/button.tsx';
import { Panel } from '../../parts/panel.tsx';
import { useIsServer } from '../../state/serve-context.ts';
import { describeJob } from './describe-job.ts';
import type { JobView } from './use-jobs.ts';

const TIME = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

interface JobListProps {
  readonly jobs: readonly JobView[];
  readonly shownId: string | undefined;
  /** @param id Undefined shows no job, but the file’s first rows. */
  readonly onShow: (id: string | undefined) => void;
}

/** The jobs of all tabs, the latest first. */
export function JobList({ jobs, shownId, onShow }: JobListProps) {
  const isServer = useIsServer();
  return (
    <Panel title="Jobs" className="job-list">
      {(jobs.length === 0 || isServer) && (
        <p className="note">
          {jobs.length === 0 ? 'No job yet. Its rows' : 'Rows'} and answers are kept{' '}
          {isServer ? 'in this tab, until it is closed or reloaded' : 'on this device'}.
        </p>
      )}
      <ul className="stack">
        {jobs.map(({ info, isNext }) => {
          const { id, name, counts, createdAt } = info;
          return (
            <li key={id} className="job-item stack">
              <Button
                className="button-small one-line"
                aria-pressed={id === shownId}
                onClick={() => onShow(id === shownId ? undefined : id)}
              >
                {name}
              </Button>
              <span className="note">
                {describeJob(info, isNext)}, begun {TIME.format(new Date(createdAt))}
              </span>
              <progress
                aria-label={`Rows of ${name} that are done`}
                max={counts.total}
                value={counts.finished + counts.failed}
              />
            </li>
          );
        })}
      </ul>
    </Panel>
  );
}
