import { useEffect, useEffectEvent, useMemo, useRef, useState } from 'react';
import { useStore } from 'zustand';
import { readCells, textOfCell, type JobRow } from '../../../client/index.ts';
import { Button } from '../../parts/button.tsx';
import { ErrorLine } from '../../parts/error-line.tsx';
import { countOf, formatCount } from '../../parts/format.ts';
import { answerOf, columnsOf, unreadableReason, widthsOf, type RowColumn } from './row-columns.ts';
import { RowWindow, type RowFilter } from './row-window.ts';
import type { JobView } from './use-jobs.ts';
import { useAttempt } from '../../parts/use-attempt.ts';

/** CSS pixels, as in the style sheet. */
const ROW_HEIGHT = 28;
const HEAD_HEIGHT = 30;
/** Of the rows’ numbers, rem. */
const NUMBER_WIDTH = 5;
/** A narrower box has the answers first, CSS pixels. */
const MIN_WIDTH_FOR_INPUTS = 560;
const MAX_MEASURED = 10;

interface RowsTableProps {
  readonly view: JobView;
  readonly filter: RowFilter;
}

/**
 * The rows of a job, however many. The table itself stays in view while the box around it scrolls, and draws the rows of the place. So
 * scrolling shows the rows of a moment ago at worst, never a blank.
 */
export function RowsTable({ view: { job, info }, filter }: RowsTableProps) {
  const { total } = info.counts;
  const rowWindow = useMemo(() => new RowWindow(job, total, filter), [job, total, filter]);
  const { first, rows, numRows, isSearching, error } = useStore(rowWindow.store);
  const [isNarrow, setIsNarrow] = useState(false);
  const columns = useMemo(() => {
    const all = columnsOf(info);
    return isNarrow ? all.toSorted((a, b) => Number(b.isAnswer) - Number(a.isAnswer)) : all;
  }, [info, isNarrow]);
  /** The rows that were read first set the widths: others must not move the columns. */
  const [measured, setMeasured] = useState<readonly JobRow[]>([]);
  if (measured.length === 0 && rows.length > 0) setMeasured(rows.slice(0, MAX_MEASURED));
  const widths = useMemo(() => widthsOf(columns, measured), [columns, measured]);
  const [chosen, choose] = useState<JobRow>();
  const boxRef = useRef<HTMLElement>(null);
  useEffect(() => rowWindow.open(), [rowWindow]);
  useEffect(() => rowWindow.refresh(info), [rowWindow, info]);
  useEffect(() => {
    const box = boxRef.current;
    if (!box) return undefined;
    const show = (): void => {
      const numInView = Math.ceil((box.clientHeight - HEAD_HEIGHT) / ROW_HEIGHT) + 1;
      rowWindow.show(Math.floor(box.scrollTop / ROW_HEIGHT), numInView);
      box.style.setProperty('--row-shift', `${-(box.scrollTop % ROW_HEIGHT)}px`);
      setIsNarrow(box.clientWidth < MIN_WIDTH_FOR_INPUTS);
    };
    const observer = new ResizeObserver(show);
    observer.observe(box);
    box.addEventListener('scroll', show);
    return () => {
      observer.disconnect();
      box.removeEventListener('scroll', show);
    };
  }, [rowWindow]);

  return (
    <>
      <div role="alert">{error && <ErrorLine error={error} />}</div>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a region that scrolls has no other way to be reached */}
      <section ref={boxRef} className="scroll-box job-rows" aria-label="Rows, which scroll" tabIndex={0}>
        <div
          style={{
            height: HEAD_HEIGHT + numRows * ROW_HEIGHT,
            minWidth: `${widths.reduce((sum, width) => sum + width, NUMBER_WIDTH)}rem`,
          }}
        >
          <div className="job-rows-view">
            <table className="scroll-table" aria-label="Rows" aria-rowcount={numRows + 1}>
              <colgroup>
                <col style={{ width: `${NUMBER_WIDTH}rem` }} />
                {widths.map((width, at) => (
                  <col key={at} style={{ width: `${width}rem` }} />
                ))}
              </colgroup>
              <thead>
                <tr aria-rowindex={1}>
                  <th scope="col">Row</th>
                  {columns.map(({ title, isAnswer }, at) => (
                    <th key={at} scope="col" data-answer={isAnswer}>
                      {title}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {rows.map((row, at) => (
                  <Row key={at} row={row} place={first + at} columns={columns} onChoose={choose} />
                ))}
              </tbody>
            </table>
          </div>
        </div>
        {rows.length === 0 && !error && (
          <p className="empty-note">{isSearching ? 'Searching…' : 'No row matches.'}</p>
        )}
      </section>
      {chosen && (
        <RowDetails
          key={chosen.index}
          row={rows.find(({ index }) => index === chosen.index) ?? chosen}
          onRerun={() => job.rerun(chosen.index)}
          onClose={() => {
            choose(undefined);
            boxRef.current?.focus();
          }}
        />
      )}
    </>
  );
}

interface RowProps {
  readonly row: JobRow;
  /** Its place in the list, which a filter makes shorter than the file. */
  readonly place: number;
  readonly columns: readonly RowColumn[];
  readonly onChoose: (row: JobRow) => void;
}

function Row({ row, place, columns, onChoose }: RowProps) {
  const { result } = row;
  return (
    <tr aria-rowindex={place + 2} data-status={result ? (result.error ? 'failed' : 'finished') : 'waiting'}>
      <td>
        <Button variant="quiet" aria-label={`Show row ${row.index + 1}`} onClick={() => onChoose(row)}>
          {formatCount(row.index + 1)}
        </Button>
      </td>
      {columns.map(({ textOf }, at) => (
        <td key={at}>{textOf(row).slice(0, MAX_CELL_LENGTH)}</td>
      ))}
    </tr>
  );
}

/** The rest doesn’t fit into a cell. */
const MAX_CELL_LENGTH = 200;

/** A text of megabytes would block the page. */
const MAX_SHOWN_LENGTH = 20_000;

interface RowDetailsProps {
  readonly row: JobRow;
  readonly onRerun: () => Promise<void>;
  readonly onClose: () => void;
}

function RowDetails({ row, onRerun, onClose }: RowDetailsProps) {
  const { index, json, result } = row;
  const isUnreadable = unreadableReason(row) !== undefined;
  const { refusal, attempt } = useAttempt();
  const titleRef = useRef<HTMLHeadingElement>(null);
  const placeRef = useRef<HTMLElement>(null);
  const close = useEffectEvent(onClose);
  useEffect(() => {
    titleRef.current?.focus();
    const listening = new AbortController();
    const onKey = ({ key }: KeyboardEvent): void => {
      if (key === 'Escape') close();
    };
    placeRef.current?.addEventListener('keydown', onKey, { signal: listening.signal });
    return () => listening.abort();
  }, []);
  return (
    <section className="apart" ref={placeRef} aria-labelledby="row-title">
      <div className="panel-head">
        <h3 id="row-title" ref={titleRef} tabIndex={-1}>
          Row {formatCount(index + 1)}
        </h3>
        {result && !isUnreadable && (
          <Button
            variant="small"
            title="With another seed. The answer it has is gone at once."
            onClick={() => void attempt(onRerun)}
          >
            Run again
          </Button>
        )}
        <Button variant="quiet" onClick={onClose}>
          Close
        </Button>
      </div>
      <div role="alert">{refusal && <ErrorLine error={refusal} />}</div>
      <dl className="row-cells stack">
        {Array.from(readCells(json) ?? [], ([name, cell]) => (
          <Cell key={name} name={name} text={textOfCell(cell)} />
        ))}
        {result && !result.error && (
          <Cell
            name={`Answer, ${countOf(result.numOutputTokens, 'token')}${result.finishReason === 'length' ? ', cut off' : ''}`}
            text={answerOf(row)}
          />
        )}
      </dl>
      {result?.error && !isUnreadable && <ErrorLine error={result.error} />}
      {!result && <p className="note">Not done yet.</p>}
    </section>
  );
}

function Cell({ name, text }: { readonly name: string; readonly text: string }) {
  return (
    <div>
      <dt className="note">{name}</dt>
      <dd className="given-text">
        {text.length > MAX_SHOWN_LENGTH ? `${text.slice(0, MAX_SHOWN_LENGTH)}…` : text}
      </dd>
    </div>
  );
}
