import type { BackendChoice, WireError } from '../../../client/index.ts';
import { Button } from '../../parts/button.tsx';
import { parseBackendChoice, withBackend } from '../models/backend-choice.ts';
import './failure-panel.css';

interface Remedy {
  /** Left out where the error itself says it. */
  readonly text?: string;
  readonly label: string;
  /** The backend to try instead. Left out: reload as it is. */
  readonly backend?: BackendChoice;
}

const WASM_LABEL = 'Open the page with ?backend=wasm';

const RELOAD: Remedy = {
  text: 'Reload the page. If it fails again, use the CPU alone.',
  label: WASM_LABEL,
  backend: 'wasm',
};

const TRY_FILES_AGAIN: Remedy = {
  text: 'Then load the model again.',
  label: 'Load again',
};

const REMEDIES: Readonly<Record<string, Remedy>> = {
  NO_WEBGPU_ADAPTER: {
    text: 'The CPU computes in every browser, but more slowly.',
    label: WASM_LABEL,
    backend: 'wasm',
  },
  GPU_WRONG_VALUES: { label: WASM_LABEL, backend: 'wasm' },
  MODEL_FILE_MISSING: TRY_FILES_AGAIN,
  MODEL_FILE_CORRUPT: TRY_FILES_AGAIN,
  UNSUPPORTED_MODEL: {
    text: 'Put a model that Tabserve runs in the model folder, then load it again.',
    label: 'Load again',
  },
  PAGE_OUTDATED: { label: 'Reload this tab' },
  VERSION_MISMATCH: { text: 'Two versions of the page can’t share a worker.', label: 'Reload this tab' },
  INVALID_OPTION: {
    text: 'Correct the address, or let the page choose.',
    label: 'Open with the best available',
    backend: 'auto',
  },
};

export interface FailurePanelProps {
  readonly error: WireError;
  /** The part that couldn’t start. */
  readonly what?: string;
}

export function FailurePanel({ error, what = 'Tabserve' }: FailurePanelProps) {
  const { text, label, backend } = remedyOf(error);
  return (
    <section className="failure rounded wrap stack" role="alert">
      <h2>Couldn’t start {what}</h2>
      <p>{error.message}</p>
      {text && <p>{text}</p>}
      <div className="actions">
        {backend ? (
          <a href={withBackend(location.href, backend)}>{label}</a>
        ) : (
          // A link to an address with a fragment wouldn't reload.
          <Button onClick={() => location.reload()}>{label}</Button>
        )}
        <code className="note">{error.code}</code>
      </div>
    </section>
  );
}

function remedyOf({ code }: WireError): Remedy {
  const remedy = REMEDIES[code] ?? RELOAD;
  const isTried = remedy.backend && remedy.backend === parseBackendChoice(location.search).backend;
  return isTried ? { label: 'Reload this tab' } : remedy;
}
