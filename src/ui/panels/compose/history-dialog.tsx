import { useCallback, useEffect, useState } from 'react';

import { Button } from '../../parts/button.tsx';
import { useComposer } from '../../state/composer/composer-context.ts';
import { ErrorLine } from '../../parts/error-line.tsx';
import { Modal } from '../../parts/modal.tsx';
import { formatCount } from '../../parts/format.ts';
import { saveJson } from '../../browser/save-file.ts';
import { useAttempt } from '../../parts/use-attempt.ts';
import './history-dialog.css';
import {
  clearHistory,
  historyFailure,
  readHistory,
  removeFromHistory,
  type HistoryEntry,
} from '../../state/composer/history-store.ts';

const TIME = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

/** The texts generated in this browser, in all tabs and visits. They stay on this machine. */
export function HistoryDialog({ onClose }: { readonly onClose: () => void }) {
  const composer = useComposer();
  const { entries, failure, refusal, change } = useHistory();
  const [words, setWords] = useState('');
  const found = entries?.filter((entry) => hasWords(entry, words));

  const restore = ({ prompt, texts }: HistoryEntry): void => {
    composer.restore(prompt, texts);
    onClose();
  };

  return (
    <Modal className="history" title="History" onClose={onClose}>
      {failure && <ErrorLine error={failure} />}
      {entries && !failure && (
        <p className="field-hint">
          The last 200 texts that were generated in this browser. They stay on this machine.
        </p>
      )}
      {refusal && <ErrorLine error={refusal} />}
      {entries && entries.length > 0 && (
        <label className="stacked">
          Search
          <input type="search" value={words} onChange={(event) => setWords(event.target.value)} />
        </label>
      )}
      {found?.length === 0 && words !== '' && <p className="muted">No text has these words.</p>}
      {entries?.length === 0 && (
        <p className="history-empty center muted">No texts yet. Send a prompt, and its text appears here.</p>
      )}
      <ul className="history-list apart stack" aria-label="History">
        {found?.map((entry) => (
          <Entry
            key={entry.key}
            entry={entry}
            onUse={() => restore(entry)}
            onRemove={() => change(() => removeFromHistory(entry.key))}
          />
        ))}
      </ul>
      <div className="actions">
        <Button disabled={!entries?.length} onClick={() => saveJson('tabserve-history.json', entries)}>
          Export JSON
        </Button>
        <Button disabled={!entries?.length} onClick={() => change(clearHistory)}>
          Clear history
        </Button>
      </div>
    </Modal>
  );
}

function hasWords({ prompt, generatedTexts }: HistoryEntry, words: string): boolean {
  return [prompt, ...generatedTexts].join('\n').toLowerCase().includes(words.trim().toLowerCase());
}

/** The stored texts, read again after each change. */
function useHistory() {
  const [entries, setEntries] = useState<readonly HistoryEntry[]>();
  const { refusal, attempt } = useAttempt();
  const list = useCallback(async () => setEntries(await readHistory()), []);
  useEffect(() => void attempt(list), [attempt, list]);
  const change = (action: () => Promise<void>): void => {
    void attempt(() => action().then(list));
  };
  // Only the first read tells whether the browser stores the texts.
  return { entries, failure: entries && historyFailure(), refusal, change };
}

interface EntryProps {
  readonly entry: HistoryEntry;
  readonly onUse: () => void;
  readonly onRemove: () => void;
}

function Entry({ entry, onUse, onRemove }: EntryProps) {
  const when = TIME.format(new Date(entry.finishedAt));
  return (
    <li className="history-entry">
      <p className="field-hint">
        <time dateTime={entry.finishedAt}>{when}</time>, {entry.model}, {formatCount(entry.numOutputTokens)}{' '}
        {entry.numOutputTokens === 1 ? 'token' : 'tokens'}
      </p>
      <p className="history-text given-text">
        {entry.prompt}
        <mark>{entry.generatedTexts[0]}</mark>
      </p>
      <div className="actions">
        <Button variant="quiet" onClick={onUse}>
          Use prompt and options
        </Button>
        <Button variant="quiet" aria-label={`Remove the text of ${when}`} onClick={onRemove}>
          Remove
        </Button>
      </div>
    </li>
  );
}
