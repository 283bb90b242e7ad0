import { useEffect, useEffectEvent, useRef, useState } from 'react';

import { Button } from '../../parts/button.tsx';
import { ErrorLine } from '../../parts/error-line.tsx';
import { countOf, formatBytes, formatCount } from '../../parts/format.ts';
import { useIsServer } from '../../state/serve-context.ts';
import { useFormView, useJobForm } from './job-form-context.ts';
import type { JobFormView } from './job-form.ts';
import { createSampleFile } from './sample-file.ts';

const TYPES = '.csv,.tsv,.tab,.txt,.json,.jsonl,.ndjson';

/** @param onChosen Called with each file, also one that is then refused. */
export function FileField({ onChosen }: { readonly onChosen: () => void }) {
  const form = useJobForm();
  const isServer = useIsServer();
  const file = useFormView((view) => view.file);
  const rows = useFormView(describeRows);
  const error = useFormView((view) => view.fileError ?? view.rowError);
  const inputRef = useRef<HTMLInputElement>(null);
  const choose = (chosen: File | undefined): void => {
    if (!chosen) return;
    onChosen();
    void form.choose(chosen);
  };
  const isOver = useDrop(choose);
  return (
    <section className="file-drop padded rounded paper wrap stack" aria-label="File" data-over={isOver}>
      <input
        ref={inputRef}
        type="file"
        hidden
        accept={TYPES}
        aria-label="File of rows"
        onChange={({ currentTarget }) => {
          choose(currentTarget.files?.[0]);
          // The same file can be chosen again after it was corrected.
          currentTarget.value = '';
        }}
      />
      <p>
        {file ? (
          <>
            <strong>{file.name}</strong>{' '}
            <span className="note">
              {formatBytes(file.numBytes)}, {rows}
              {file.isBatch ? ', a batch of requests' : `: ${file.columns.join(', ')}`}
            </span>
          </>
        ) : (
          `Drop a file here: CSV, TSV, JSON, JSONL, or a batch file of OpenAI. ${isServer ? 'Its rows are sent to the server.' : 'It stays on this device.'}`
        )}
      </p>
      <div role="alert">{error && <ErrorLine error={error} />}</div>
      <div className="cluster">
        <Button variant="small" onClick={() => inputRef.current?.click()}>
          Choose a file…
        </Button>
        <Button variant="quiet" onClick={() => choose(createSampleFile())}>
          Take the sample: 500 reviews
        </Button>
      </div>
    </section>
  );
}

function describeRows({ numRows, numUnreadable, isCounting }: JobFormView): string {
  const unreadable = numUnreadable > 0 ? ` (${formatCount(numUnreadable)} can’t be read)` : '';
  return `${countOf(numRows, 'row')}${isCounting ? ' so far' : ''}${unreadable}`;
}

/** Takes a file that is dropped anywhere on the page. Returns whether one is above it. */
function useDrop(onDrop: (file: File | undefined) => void): boolean {
  const [isOver, setIsOver] = useState(false);
  const take = useEffectEvent(onDrop);
  useEffect(() => {
    const listening = new AbortController();
    const options = { signal: listening.signal };
    const follow = (event: DragEvent): void => {
      if (!event.dataTransfer?.types.includes('Files')) return;
      // By default the browser would open the file in place of the page.
      event.preventDefault();
      setIsOver(event.type === 'dragover');
      if (event.type === 'drop') take(event.dataTransfer.files[0]);
    };
    window.addEventListener('dragover', follow, options);
    window.addEventListener('drop', follow, options);
    window.addEventListener('dragleave', ({ relatedTarget }) => !relatedTarget && setIsOver(false), options);
    return () => listening.abort();
  }, []);
  return isOver;
}
