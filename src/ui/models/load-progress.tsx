import type { ModelLoad } from '../../worker/protocol/protocol.ts';
import { Button } from '../button.tsx';
import { useServe } from '../state/serve-context.ts';
import { describeLoad } from './describe-load.ts';

/** Short phases, which can't be paused. */
const AT_ONCE: ReadonlySet<ModelLoad['phase']> = new Set(['prepare', 'compile', 'drain']);

/** The progress of a load. Every tab may pause or cancel it. */
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
        <Button disabled={AT_ONCE.has(phase)} onClick={() => serve.steerLoad(isPaused ? 'resume' : 'pause')}>
          {isPaused ? 'Resume' : 'Pause'}
        </Button>
        <Button onClick={() => serve.steerLoad('cancel')}>Cancel</Button>
      </div>
    </div>
  );
}
