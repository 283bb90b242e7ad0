import type { WireError } from '../../worker/protocol.ts';
import './failure-panel.css';

interface Remedy {
  readonly text: string;
  readonly link: { readonly label: string; readonly search: string };
}

const RELOAD: Remedy = {
  text: 'Reload the page. If it fails again, run on WASM, which needs no GPU.',
  link: { label: 'Run on WASM', search: '?backend=wasm' },
};

const TRY_FILES_AGAIN: Remedy = {
  text: 'The files of the model did not arrive whole. Check that the server has all of them, then load again.',
  link: { label: 'Load again', search: '' },
};

const REMEDIES: Readonly<Record<string, Remedy>> = {
  NO_WEBGPU_ADAPTER: {
    text: 'Use a browser with WebGPU and its hardware acceleration on, or run on WASM, which is slower.',
    link: { label: 'Run on WASM', search: '?backend=wasm' },
  },
  MODEL_FILE_MISSING: TRY_FILES_AGAIN,
  MODEL_FILE_CORRUPT: TRY_FILES_AGAIN,
  UNSUPPORTED_MODEL: {
    text: 'Only models of the GPT-2 architecture are served. Put one of them in the model folder, then load again.',
    link: { label: 'Load again', search: '' },
  },
  PAGE_OUTDATED: {
    text: 'The server has another version of this page, or cannot be reached.',
    link: { label: 'Reload this tab', search: '' },
  },
  VERSION_MISMATCH: {
    text: 'Tabs of two versions cannot share a worker.',
    link: { label: 'Reload this tab', search: '' },
  },
  INVALID_OPTION: {
    text: 'Correct the address, or let the page choose.',
    link: { label: 'Choose for me', search: '?backend=auto' },
  },
};

interface FailurePanelProps {
  readonly error: WireError;
  /** What could not start. */
  readonly what?: string;
}

export function FailurePanel({ error, what = 'Tabserve' }: FailurePanelProps) {
  const { text, link } = REMEDIES[error.code] ?? RELOAD;
  return (
    <section className="failure" role="alert">
      <h2>
        {what} could not start <code>{error.code}</code>
      </h2>
      <p>{error.message}</p>
      <p>
        {text} <a href={link.search || location.href}>{link.label}</a>
      </p>
    </section>
  );
}
