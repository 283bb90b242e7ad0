import { useEffect, useEffectEvent, useRef } from 'react';

import { readCells, textOfCell, type JobRow } from '../../../client/index.ts';
import { Button } from '../../parts/button.tsx';
import { ErrorLine } from '../../parts/error-line.tsx';
import { formatCount } from '../../parts/format.ts';
import { useAttempt } from '../../parts/use-attempt.ts';
import { answerOf, unreadableReason } from './row-columns.ts';

/** A text of megabytes would block the page. */
const MAX_LENGTH = 20_000;

interface RowDetailsProps {
  readonly row: JobRow;
  readonly onRerun: () => Promise<void>;
  readonly onClose: () => void;
}

/** All of a row. */
export function RowDetails({ row, onRerun, onClose }: RowDetailsProps) {
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
            name={`Answer, ${formatCount(result.numOutputTokens)} ${result.numOutputTokens === 1 ? 'token' : 'tokens'}${result.finishReason === 'length' ? ', cut off' : ''}`}
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
      <dd className="given-text">{text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text}</dd>
    </div>
  );
}
