import { formatCount } from '../../parts/format.ts';
import { canGenerate } from '../../state/can-generate.ts';
import { useServeView } from '../../state/serve-context.ts';
import type { ServeView } from '../../state/serve-store.ts';
import { lastStartMs } from './start-times.ts';

/** The keys of the prompt box; while the model loads, what takes long and how long it took last time. */
export function LoadNote() {
  const text = useServeView(describeStart);
  if (text !== undefined) return <output className="note">{text}</output>;
  return (
    <p className="compose-keys note">
      <kbd>Enter</kbd> sends, <kbd>Shift</kbd>+<kbd>Enter</kbd> starts a new line, <kbd>Esc</kbd> stops.
    </p>
  );
}

/** Undefined once the model is ready. */
export function describeStart({ status }: Pick<ServeView, 'status'>): string | undefined {
  const { state, progress, backend } = status;
  if (state === 'ready') return undefined;
  if (!canGenerate(state)) return 'No model is running, so nothing can be sent.';
  const lastMs = lastStartMs(status);
  const last = lastMs === undefined ? '' : ` Last time it took ${formatCount(Math.ceil(lastMs / 1000))} s.`;
  if (progress?.phase !== 'compile') return `Loading the model.${last} Prompts wait until then.`;
  const share = progress.total > 0 ? `: ${progress.loaded} of ${progress.total}` : '';
  const what = backend?.name === 'wasm' ? 'Warming up the model' : 'The GPU compiles shaders';
  return `${what}${share}.${last} Prompts wait until then.`;
}
