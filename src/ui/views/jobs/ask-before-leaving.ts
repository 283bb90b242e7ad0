import type { TabserveClient } from '../../../client/index.ts';

const followed = new WeakSet<TabserveClient>();

/** The browser asks before it closes or reloads this tab while a job runs, also where another view is shown. */
export function askBeforeLeaving(serve: TabserveClient): void {
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
