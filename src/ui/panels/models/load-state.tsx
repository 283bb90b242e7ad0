import type { ModelLoad, WireError } from '../../../client/index.ts';
import { Button } from '../../parts/button.tsx';
import { ErrorLine } from '../../parts/error-line.tsx';
import { useServe, useServeView } from '../../state/serve-context.ts';
import { describeLoad, describeMemory } from './describe-load.ts';

interface LoadStateProps {
  readonly refusal: WireError | undefined;
  /** Left out for files, which have to be picked again. */
  readonly onRetry: ((id: string) => void) | undefined;
}

/** The load that is under way in any tab, and why the last one failed. */
export function LoadState({ refusal, onRetry }: LoadStateProps) {
  const { load, loadFailure: failure, model } = useServeView(({ status }) => status);
  return (
    <div className="load-state stack loose">
      {load && <LoadProgress load={load} />}
      {failure && (
        <div role="alert">
          {failure.id && (
            <p>
              Couldn’t load {failure.id}. {model && `Still using ${model.id}.`}
            </p>
          )}
          <ErrorLine error={failure.error} />
          {failure.id && onRetry && <Button onClick={() => onRetry(failure.id)}>Load again</Button>}
        </div>
      )}
      {refusal && (
        <div role="alert">
          <ErrorLine error={refusal} />
        </div>
      )}
    </div>
  );
}

/** Short phases, which can't be paused. */
const UNPAUSABLE: ReadonlySet<ModelLoad['phase']> = new Set(['prepare', 'check', 'compile', 'drain']);

/** Every tab may pause or cancel it. */
function LoadProgress({ load }: { readonly load: ModelLoad }) {
  const { serve } = useServe();
  const isShared = useServeView(({ status }) => status.numTabs > 1);
  const { id, isPaused, phase, fraction, isRestore } = load;
  const memory = describeMemory(load);
  return (
    <div data-testid="model-load">
      <p>
        <strong>{id}</strong> {describeLoad(load)}
      </p>
      <progress aria-label={`Loading ${id}`} value={fraction} />
      {memory && <p className="note">{memory}</p>}
      <div className="actions">
        <Button
          disabled={UNPAUSABLE.has(phase)}
          onClick={() => (isPaused ? serve.resumeLoad() : serve.pauseLoad())}
        >
          {isPaused ? 'Resume' : 'Pause'}
        </Button>
        <Button disabled={isRestore} onClick={() => serve.cancelLoad()}>
          {isShared ? 'Cancel for all tabs' : 'Cancel'}
        </Button>
      </div>
    </div>
  );
}
