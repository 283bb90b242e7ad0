import type { BackendChoice } from '../../worker/protocol/ladder.ts';
import type { WireError } from '../../worker/protocol/wire.ts';
import { Button } from '../button.tsx';
import { parseBackendChoice, withBackend } from '../backend-choice.ts';
import './failure-panel.css';

interface Remedy {
  readonly text: string;
  readonly label: string;
  /** The backend to try instead. Left out: reload as it is. */
  readonly backend?: BackendChoice;
}

const WASM_LABEL = 'Open the page with ?backend=wasm';

const RELOAD: Remedy = {
  text: 'Reload the page. If it fails again, run the model on WASM, which needs no GPU.',
  label: WASM_LABEL,
  backend: 'wasm',
};

const TRY_FILES_AGAIN: Remedy = {
  text: 'The files of the model did not arrive whole. Check that the server has all of them, then load again.',
  label: 'Load again',
};

const REMEDIES: Readonly<Record<string, Remedy>> = {
  NO_WEBGPU_ADAPTER: {
    text: 'WASM runs in every browser, more slowly.',
    label: WASM_LABEL,
    backend: 'wasm',
  },
  MODEL_FILE_MISSING: TRY_FILES_AGAIN,
  MODEL_FILE_CORRUPT: TRY_FILES_AGAIN,
  UNSUPPORTED_MODEL: {
    text: 'Only models of the GPT-2 architecture are served. Put one of them in the model folder, then load again.',
    label: 'Load again',
  },
  PAGE_OUTDATED: {
    text: 'The server has another version of this page, or cannot be reached.',
    label: 'Reload this tab',
  },
  VERSION_MISMATCH: { text: 'Tabs of two versions cannot share a worker.', label: 'Reload this tab' },
  INVALID_OPTION: {
    text: 'Correct the address, or let the page choose.',
    label: 'Choose for me',
    backend: 'auto',
  },
};

interface FailurePanelProps {
  readonly error: WireError;
  readonly what?: string;
}

export function FailurePanel({ error, what = 'Tabserve' }: FailurePanelProps) {
  const { text, label, backend } = remedyOf(error);
  return (
    <section className="failure" role="alert">
      <h2>
        {what} could not start <code>{error.code}</code>
      </h2>
      <p>{error.message}</p>
      <p>
        {text}{' '}
        {backend ? (
          <a href={withBackend(location.href, backend)}>{label}</a>
        ) : (
          // A link to an address with a fragment wouldn't reload.
          <Button variant="small" onClick={() => location.reload()}>
            {label}
          </Button>
        )}
      </p>
    </section>
  );
}

function remedyOf({ code }: WireError): Remedy {
  const remedy = REMEDIES[code] ?? RELOAD;
  const isTried = remedy.backend && remedy.backend === parseBackendChoice(location.search).backend;
  return isTried ? { text: 'Reload the page.', label: 'Reload this tab' } : remedy;
}
