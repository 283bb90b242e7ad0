import { useState } from 'react';

import type { LoggedRequest, WorkerLog } from '../../../client/index.ts';
import { Button } from '../../parts/button.tsx';
import { formatCount, formatMs, NO_VALUE } from '../../parts/format.ts';
import { ScrollBox } from '../../parts/scroll-box.tsx';
import { TableHead } from '../../parts/table-head.tsx';
import { useServeView } from '../../state/serve-context.ts';
import { describeCaller, describeOutcome, describePrompt, hasFailed } from './describe-logged.ts';

/** Rows that are drawn at once. */
const PAGE_LENGTH = 100;

const COLUMNS = ['Ended', 'From', 'For', 'Prompt tokens', 'Output tokens', 'Waited', 'Took', 'Outcome'];

const TIME = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });
const START = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

/** The last requests, newest first. */
export function LoggedRequests({ log: { requests, startedAtMs } }: { readonly log: WorkerLog }) {
  const [onlyFailed, setOnlyFailed] = useState(false);
  const [numShown, setNumShown] = useState(PAGE_LENGTH);
  const failed = requests.filter(hasFailed);
  const found = (onlyFailed ? failed : requests).toReversed();
  return (
    <section className="ruled-off" aria-labelledby="logged-title">
      <div className="panel-head">
        <h3 id="logged-title">Requests</h3>
        <span className="note">
          The last {formatCount(requests.length)} that ended since {START.format(startedAtMs)}, when this
          worker began. Another worker begins a new list.
        </span>
        <label>
          <input
            type="checkbox"
            checked={onlyFailed}
            onChange={({ target }) => setOnlyFailed(target.checked)}
          />{' '}
          Only failed ({formatCount(failed.length)})
        </label>
      </div>
      {found.length === 0 ? (
        <p className="note">{onlyFailed ? 'None has failed.' : 'None has ended yet.'}</p>
      ) : (
        <ScrollBox label="Requests, newest first" className="logged">
          <table className="scroll-table">
            <TableHead titles={COLUMNS} />
            <tbody>
              {found.slice(0, numShown).map((request) => (
                <LoggedRow key={request.number} request={request} />
              ))}
            </tbody>
          </table>
          {found.length > numShown && (
            <Button variant="quiet" onClick={() => setNumShown(numShown + PAGE_LENGTH)}>
              Show {formatCount(Math.min(PAGE_LENGTH, found.length - numShown))} more
            </Button>
          )}
        </ScrollBox>
      )}
    </section>
  );
}

function LoggedRow({ request }: { readonly request: LoggedRequest }) {
  const caller = useServeView(({ status }) => describeCaller(request, status.tabs));
  const { endedAtMs, deployment, numOutputTokens, queueWaitMs, durationMs, error } = request;
  const isFailed = hasFailed(request);
  return (
    <>
      <tr>
        <td>{TIME.format(endedAtMs)}</td>
        <th scope="row">{caller}</th>
        <td>{deployment}</td>
        <td>{describePrompt(request)}</td>
        <td>{numOutputTokens === undefined ? NO_VALUE : formatCount(numOutputTokens)}</td>
        <td>{formatMs(queueWaitMs)}</td>
        <td>{formatMs(durationMs)}</td>
        <td className={isFailed ? 'bad' : undefined}>{describeOutcome(request)}</td>
      </tr>
      {error && isFailed && (
        <tr className="note">
          <td className="sentence" colSpan={COLUMNS.length}>
            {error.message}
          </td>
        </tr>
      )}
    </>
  );
}
