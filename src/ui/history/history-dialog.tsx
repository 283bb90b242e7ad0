import { useEffect, useRef, useState } from 'react';

import type { GenerationTexts } from '../compose/generation-fields.ts';
import { ErrorLine } from '../error-line.tsx';
import { formatCount } from '../format.ts';
import { saveJson } from '../share/save-file.ts';
import { toWireError } from '../state/to-wire-error.ts';
import type { WireError } from '../../worker/protocol/protocol.ts';
import './history-dialog.css';
import { clearHistory, historyFailure, readHistory, removeFromHistory } from './history-store.ts';
import type { HistoryEntry } from './history-store.ts';

interface HistoryDialogProps {
  readonly onRestore: (prompt: string, texts: GenerationTexts) => void;
  readonly onClose: () => void;
}

const TIME = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

/** What was generated in this browser, in all its tabs and visits; nothing of it leaves the machine. */
export function HistoryDialog({ onRestore, onClose }: HistoryDialogProps) {
  const dialogRef = useRef<HTMLDialogElement>(null);
  const [entries, setEntries] = useState<readonly HistoryEntry[]>();
  const [error, setError] = useState<WireError>();

  const attempt = async (change: () => Promise<void>): Promise<void> => {
    try {
      await change();
      setEntries(await readHistory());
    } catch (caught) {
      setError(toWireError(caught));
    }
  };

  useEffect(() => {
    dialogRef.current?.showModal();
    readHistory().then(setEntries, (caught: unknown) => setError(toWireError(caught)));
  }, []);

  const restore = ({ prompt, texts }: HistoryEntry): void => {
    onRestore(prompt, texts);
    dialogRef.current?.close();
  };

  return (
    <dialog className="history" ref={dialogRef} aria-labelledby="history-title" onClose={onClose}>
      <div className="history-head">
        <h2 id="history-title">History</h2>
        <form method="dialog">
          <button type="submit">Close</button>
        </form>
      </div>
      {entries && <StorageNote />}
      {error && <ErrorLine error={error} />}
      {entries?.length === 0 && <p className="history-empty">Nothing yet: send a prompt.</p>}
      <ul className="history-list" aria-labelledby="history-title">
        {entries?.map((entry) => (
          <HistoryRow
            key={entry.key}
            entry={entry}
            onRestore={() => restore(entry)}
            onRemove={() => void attempt(() => removeFromHistory(entry.key))}
          />
        ))}
      </ul>
      <div className="actions">
        <button
          type="button"
          disabled={!entries?.length}
          onClick={() => saveJson('tabserve-history.json', entries)}
        >
          Export JSON
        </button>
        <button type="button" disabled={!entries?.length} onClick={() => void attempt(clearHistory)}>
          Clear history
        </button>
      </div>
    </dialog>
  );
}

/** Shown with what was read: only then is it known. */
function StorageNote() {
  const failure = historyFailure();
  if (failure) return <ErrorLine error={failure} />;
  return (
    <p className="field-hint">
      The last 200 texts that were generated in this browser. They stay on this machine.
    </p>
  );
}

interface HistoryRowProps {
  readonly entry: HistoryEntry;
  readonly onRestore: () => void;
  readonly onRemove: () => void;
}

function HistoryRow({ entry, onRestore, onRemove }: HistoryRowProps) {
  const { finishedAt, model, prompt, generatedTexts, numOutputTokens } = entry;
  const when = TIME.format(new Date(finishedAt));
  return (
    <li className="history-entry">
      <p className="field-hint">
        <time dateTime={finishedAt}>{when}</time>, {model}, {formatCount(numOutputTokens)} tokens
      </p>
      <p className="history-text">
        {prompt}
        <mark>{generatedTexts[0]}</mark>
      </p>
      <div className="history-actions">
        <button type="button" className="button-quiet" onClick={onRestore}>
          Use prompt and options
        </button>
        <button
          type="button"
          className="button-quiet"
          aria-label={`Remove the entry of ${when}`}
          onClick={onRemove}
        >
          Remove
        </button>
      </div>
    </li>
  );
}
