import { useEffect, useMemo, useState } from 'react';
import { Part } from '../../parts/panel-boundary.tsx';
import { TabPanel } from '../../parts/tab-list.tsx';
import { readPermalink } from '../../state/permalink.ts';
import { latestRun } from '../../state/run.ts';
import { useIsServer, useServe, useServeView } from '../../state/serve-context.ts';
import { FiguresRow } from '../../panels/watch/figures-row.tsx';
import { MainCharts } from '../../panels/watch/main-charts.tsx';
import { describeCharted } from './describe-job.ts';
import { JobFormContext } from './job-form-context.ts';
import { JobForm } from './job-form.ts';
import { JobList } from './job-list.tsx';
import { JobPanel } from './job-panel.tsx';
import './jobs-view.css';
import { NewJobPanel } from './new-job-panel.tsx';
import { PreviewPanel } from './preview-panel.tsx';
import { ServerCharts } from './server-charts.tsx';
import { useJobs } from './use-jobs.ts';
import type { TabserveClient } from '../../../client/index.ts';

/** Left, a job that is being prepared; right, how jobs run, and their rows. */
export function JobsView({ name }: { readonly name: string }) {
  const { serve } = useServe();
  const isServer = useIsServer();
  useEffect(() => {
    if (isServer) askBeforeLeaving(serve);
  }, [serve, isServer]);
  const form = useMemo(() => new JobForm(serve, readPermalink(location.hash)), [serve]);
  const jobs = useJobs() ?? [];
  /** `newest` until one is chosen; undefined shows the file’s first rows. */
  const [shown, show] = useState<string | undefined>('newest');
  const shownJob = shown === 'newest' ? jobs[0] : jobs.find(({ info }) => info.id === shown);
  return (
    <JobFormContext value={form}>
      <TabPanel id={name} className="workspace generator-view jobs-view">
        <div className="rail stack loose top">
          <Part
            name="New job"
            content={<NewJobPanel onChosen={() => show(undefined)} onCreated={({ id }) => show(id)} />}
          />
        </div>
        <div className="stage stack loose top">
          {!isServer && <Part name="Figures" content={<FiguresRow />} />}
          <Part
            name="Charts"
            content={
              isServer ? (
                <ServerCharts />
              ) : (
                <>
                  <MainCharts hasSlots={false} emptyText="Run a job to see its rows share each step." />
                  <Charted />
                </>
              )
            }
          />
          <Part name="Jobs" content={<JobList jobs={jobs} shownId={shownJob?.info.id} onShow={show} />} />
          {shownJob ? (
            <Part name="Job" content={<JobPanel key={shownJob.info.id} view={shownJob} />} />
          ) : (
            <Part name="First rows" content={<PreviewPanel />} />
          )}
        </div>
      </TabPanel>
    </JobFormContext>
  );
}

function Charted() {
  const text = useServeView(({ runs }) => describeCharted(latestRun(runs)));
  return text && <p className="note">{text}</p>;
}

const followed = new WeakSet<TabserveClient>();

/** The browser asks before it closes or reloads this tab while a job runs, also where another view is shown. */
function askBeforeLeaving(serve: TabserveClient): void {
  if (followed.has(serve)) return;
  followed.add(serve);
  serve.jobs.subscribe((jobs) => {
    const isActive = jobs.some(({ info: { state } }) => state === 'queued' || state === 'running');
    if (isActive) window.addEventListener('beforeunload', ask);
    else window.removeEventListener('beforeunload', ask);
  });
}

function ask(event: BeforeUnloadEvent): void {
  event.preventDefault();
}
