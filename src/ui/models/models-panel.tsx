import { useId, useState } from 'react';
import type { ChangeEvent } from 'react';

import type { LoadModelOptions, ModelReference } from '../../worker/client/client.ts';
import type { DtypeChoice, ModelLoad, StoredModel, WhenBusy } from '../../worker/protocol/models.ts';
import type { WireError } from '../../worker/protocol/wire.ts';
import { Button } from '../button.tsx';
import { ErrorLine } from '../error-line.tsx';
import { Form } from '../form.tsx';
import { Panel } from '../panel.tsx';
import { Select } from '../select.tsx';
import type { Choices } from '../select.tsx';
import { useServe, useServeView } from '../state/serve-context.ts';
import { describeLoad } from './describe-load.ts';
import './models-panel.css';
import { refusalOf } from './refusal.ts';
import { StoredModels } from './stored-models.tsx';

const SUGGESTIONS = [
  'storyteller',
  'distilbert/distilgpt2',
  'openai-community/gpt2',
  'openai-community/gpt2-medium',
  'openai-community/gpt2-large',
] as const;

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

/** Loads another model for all tabs: from the hub, from this device, or from a folder. */
export function ModelsPanel() {
  const { serve } = useServe();
  const load = useServeView(({ status }) => status.load);
  const failure = useServeView(({ status }) => status.loadFailure);
  const served = useServeView(({ status }) => status.model?.id);
  const listId = useId();
  const folderId = useId();
  const [id, setId] = useState<string>(SUGGESTIONS[2]);
  const [dtype, setDtype] = useState<DtypeChoice>('auto');
  const [whenBusy, setWhenBusy] = useState<WhenBusy>('finish');
  const [refusal, setRefusal] = useState<WireError>();

  const start = async (model: ModelReference, options: LoadModelOptions = {}): Promise<void> => {
    setRefusal(undefined);
    try {
      await serve.loadModel(model, { dtype, whenBusy, ...options });
    } catch (error) {
      setRefusal(refusalOf(error, serve.status().loadFailure));
    }
  };
  const pickFolder = ({ target }: ChangeEvent<HTMLInputElement>): void => {
    const files = [...(target.files ?? [])];
    // Lets the same folder be picked again.
    target.value = '';
    if (files.length > 0) void start(files);
  };
  const loadStored = ({ id: stored, revision, dtype: stands }: StoredModel): void =>
    void start(stored, { revision, ...(stands && { dtype: stands }) });

  return (
    <Panel title="Load another model" className="models ruled-off">
      <Form onSubmit={() => void start(id.trim())}>
        <label className="stacked">
          Hugging Face model ID
          <input
            type="text"
            list={listId}
            value={id}
            autoComplete="off"
            spellCheck={false}
            onChange={(event) => setId(event.target.value)}
          />
        </label>
        <datalist id={listId}>
          {SUGGESTIONS.map((suggestion) => (
            <option key={suggestion} value={suggestion} aria-label={suggestion} />
          ))}
        </datalist>
        <div className="model-choices">
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
          <Button type="submit" variant="primary">
            Load
          </Button>
          <label htmlFor={folderId} className="muted">
            Or a folder from your disk, picked or dropped:
          </label>
          <input id={folderId} type="file" multiple onChange={pickFolder} {...{ webkitdirectory: '' }} />
        </div>
      </Form>
      {load && <LoadProgress load={load} />}
      {failure && (
        <div role="alert">
          {failure.id && (
            <p>
              Couldn’t load {failure.id}. {served !== undefined && `Still using ${served}.`}
            </p>
          )}
          <ErrorLine error={failure.error} />
        </div>
      )}
      {refusal && (
        <div role="alert">
          <ErrorLine error={refusal} />
        </div>
      )}
      <StoredModels onLoad={loadStored} />
    </Panel>
  );
}

/** Short phases, which can't be paused. */
const UNPAUSABLE: ReadonlySet<ModelLoad['phase']> = new Set(['prepare', 'compile', 'drain']);

/** The progress of a load. Every tab may pause or cancel it. */
function LoadProgress({ load }: { readonly load: ModelLoad }) {
  const { serve } = useServe();
  const { id, isPaused, phase, loaded, total } = load;
  return (
    <div className="model-load" data-testid="model-load">
      <p>
        <strong>{id}</strong> {describeLoad(load)}
      </p>
      <progress aria-label={`Loading ${id}`} {...(total > 0 && { value: loaded, max: total })} />
      <div className="actions">
        <Button
          disabled={UNPAUSABLE.has(phase)}
          onClick={() => serve.steerLoad(isPaused ? 'resume' : 'pause')}
        >
          {isPaused ? 'Resume' : 'Pause'}
        </Button>
        <Button onClick={() => serve.steerLoad('cancel')}>Cancel</Button>
      </div>
    </div>
  );
}
