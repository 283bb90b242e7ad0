import type { ModelLoad } from '../../worker/protocol/protocol.ts';
import { useServe } from '../state/serve-context.ts';
import { describeLoad } from './describe-load.ts';

/** Short, and in one go. */
const AT_ONCE: ReadonlySet<ModelLoad['phase']> = new Set(['prepare', 'compile', 'drain']);

/** How far the model is that comes next; whichever tab has asked for it, every tab may steer it. */
export function LoadProgress({ load }: { readonly load: ModelLoad }) {
  const { serve } = useServe();
  const { id, isPaused, phase, loaded, total } = load;
  return (
    <div className="model-load" data-testid="model-load">
      <p>
        <strong>{id}</strong> {describeLoad(load)}
      </p>
      <progress aria-label={`Loading ${id}`} {...(total > 0 && { value: loaded, max: total })} />
      <div className="model-actions">
        <button
          type="button"
          disabled={AT_ONCE.has(phase)}
          onClick={() => serve.steerLoad(isPaused ? 'resume' : 'pause')}
        >
          {isPaused ? 'Resume' : 'Pause'}
        </button>
        <button type="button" onClick={() => serve.steerLoad('cancel')}>
          Cancel
        </button>
      </div>
    </div>
  );
}
