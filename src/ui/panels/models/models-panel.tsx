import { useEffect, useId, useRef, useState, type ChangeEvent } from 'react';

import type { DtypeChoice, StoredModel, WhenBusy } from '../../../client/index.ts';
import { Button } from '../../parts/button.tsx';
import { ErrorLine } from '../../parts/error-line.tsx';
import { Form } from '../../parts/form.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Select, type Choices } from '../../parts/select.tsx';
import { useServeView } from '../../state/serve-context.ts';
import { EMBEDDED } from './embedded-model.ts';
import { isModelFieldWanted, MODEL_FIELD } from './open-model-box.ts';
import { FoundModels, GgufFiles } from './found-models.tsx';
import { LoadState } from './load-state.tsx';
import './models-panel.css';
import { PickedFiles } from './picked-files.tsx';
import { StoredModels } from './stored-models.tsx';
import { SuggestedModels } from './suggested-models.tsx';
import { isFullId, typedModel } from './typed-model.ts';
import { useGgufFiles } from './use-gguf-files.ts';
import { useLoadModel } from './use-load-model.ts';
import { useModelLists } from './use-model-lists.ts';
import { useModelSearch } from './use-model-search.ts';

const DTYPES: Choices<DtypeChoice> = [
  ['auto', 'Best available'],
  ['fp16', 'fp16'],
  ['fp32', 'fp32'],
  ['q8', '8-bit (q8)'],
  ['q4', '4-bit (q4)'],
];

const WHEN_BUSY: Choices<WhenBusy> = [
  ['finish', 'Finish first'],
  ['resubmit', 'Start over'],
];

/** Loads another model for all tabs: a suggested one, any other of the hub, one from this device, or a folder. */
export function ModelsPanel() {
  const isEmbedded = useServeView(({ status }) => status.model?.id === EMBEDDED);
  const shownCode = useServeView(({ status }) => status.loadFailure?.error.code);
  const [id, setId] = useState('');
  const [dtype, setDtype] = useState<DtypeChoice>('auto');
  const [whenBusy, setWhenBusy] = useState<WhenBusy>('finish');
  const { start, refusal, clearRefusal } = useLoadModel();
  /** Whether the last model is of files: what became of it stands beside their fields, at the other end of the panel. */
  const [isPicked, setIsPicked] = useState(false);
  /** Files that wait to be loaded. */
  const [picked, setPicked] = useState<readonly File[]>();
  const lists = useModelLists();
  const gguf = useGgufFiles();
  const search = useModelSearch();

  const load = async (model: string | Iterable<File>, file?: string): Promise<void> => {
    setIsPicked(typeof model !== 'string');
    const code = await start(model, { dtype, whenBusy, file });
    if (code === 'GGUF_FILE_UNCLEAR' && typeof model === 'string') gguf.list(model);
  };
  const loadStored = ({ id: stored, revision, dtype: stands }: StoredModel): void =>
    void start(stored, { revision, dtype: stands ?? dtype, whenBusy });

  const typed = typedModel(id);
  const isOne = isFullId(typed);
  /** What stands under the field is of its last question. */
  const forget = (): void => {
    clearRefusal();
    search.clear();
    gguf.clear();
  };
  const loadTyped = (): void => {
    forget();
    void load(typed);
  };
  const searchTyped = (): void => {
    forget();
    void search.search(typed);
  };
  const listFiles = (): void => {
    forget();
    gguf.list(typed);
  };
  const loadState = (
    <LoadState refusal={refusal} onRetry={isPicked ? undefined : (failed) => void load(failed)} />
  );

  return (
    <Panel title="Load another model" className="models ruled-off">
      {!isEmbedded && (
        <Button variant="quiet" onClick={() => void load(EMBEDDED)}>
          Back to {EMBEDDED}, which comes with the page
        </Button>
      )}
      <Form onSubmit={isOne ? loadTyped : searchTyped}>
        <div className="model-id stack">
          <IdField id={id} onChange={setId} />
          <Button
            type={isOne ? 'button' : 'submit'}
            disabled={typed === ''}
            aria-busy={search.isSearching}
            onClick={() => isOne && searchTyped()}
          >
            Search
          </Button>
          <Button
            type={isOne ? 'submit' : 'button'}
            variant="primary"
            disabled={typed === ''}
            onClick={() => !isOne && loadTyped()}
          >
            Load
          </Button>
        </div>
        {!isPicked && loadState}
        {[search.refusal, gguf.refusal].map((error) => error && <ErrorLine key={error.code} error={error} />)}
        {search.found && (
          <FoundModels found={search.found} onLoad={(found) => void load(found)} onListFiles={gguf.list} />
        )}
        {isOne && (
          <Button variant="quiet" onClick={listFiles}>
            List its GGUF files
          </Button>
        )}
        {gguf.listing && <GgufFiles listing={gguf.listing} onLoad={(...file) => void load(...file)} />}
      </Form>
      {/* The panel already shows why a load failed. */}
      {lists.refusal && lists.refusal.code !== shownCode && <ErrorLine error={lists.refusal} />}
      <StoredModels models={lists.stored} onLoad={loadStored} />
      <SuggestedModels models={lists.suggested} stored={lists.stored} onLoad={(model) => void load(model)} />
      <div className="model-choices stack loose ruled-off">
        <Select className="stacked" label="Precision" value={dtype} choices={DTYPES} onChange={setDtype} />
        <Select
          className="stacked"
          label="Running requests"
          value={whenBusy}
          choices={WHEN_BUSY}
          onChange={setWhenBusy}
        />
      </div>
      <div className="actions">
        <FilePicker label="Or a folder from your disk, picked or dropped:" isFolder onPick={setPicked} />
        <FilePicker label="Or a GGUF file:" onPick={setPicked} />
        {picked && (
          <PickedFiles
            files={picked}
            choice={dtype}
            onLoad={() => {
              setPicked(undefined);
              void load(picked);
            }}
            onCancel={() => setPicked(undefined)}
          />
        )}
        {isPicked && !picked && loadState}
      </div>
    </Panel>
  );
}

function IdField({ id, onChange }: { readonly id: string; readonly onChange: (id: string) => void }) {
  const fieldRef = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (isModelFieldWanted()) fieldRef.current?.focus();
  }, []);
  return (
    <label className="stacked">
      Hugging Face model ID, or words
      <input
        ref={fieldRef}
        type="text"
        id={MODEL_FIELD}
        value={id}
        placeholder="owner/name, or smollm"
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => onChange(event.target.value)}
      />
    </label>
  );
}

interface FilePickerProps {
  readonly label: string;
  /** Whether a folder is picked; else a GGUF file, or all parts of one. */
  readonly isFolder?: boolean;
  readonly onPick: (files: readonly File[]) => void;
}

function FilePicker({ label, isFolder = false, onPick }: FilePickerProps) {
  const id = useId();
  const pick = ({ target }: ChangeEvent<HTMLInputElement>): void => {
    const files = [...(target.files ?? [])];
    // Lets the same files be picked again.
    target.value = '';
    if (files.length > 0) onPick(files);
  };
  return (
    <div className="stack tight">
      <label htmlFor={id} className="muted">
        {label}
      </label>
      <input
        id={id}
        type="file"
        multiple
        onChange={pick}
        {...(isFolder ? { webkitdirectory: '' } : { accept: '.gguf' })}
      />
    </div>
  );
}
