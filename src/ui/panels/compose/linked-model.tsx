import { Button } from '../../parts/button.tsx';
import { useServe, useServeView } from '../../state/serve-context.ts';

interface LinkedModelProps {
  /** The ID of the model that the link names. */
  readonly linked: string;
  readonly running: string;
}

/** Shown where another model runs than the one whose text was shared. */
export function LinkedModel({ linked, running }: LinkedModelProps) {
  const { serve } = useServe();
  const isLoading = useServeView(({ status }) => status.load !== undefined);
  // The chip says why a load failed.
  const load = (): void => void serve.loadModel(linked).catch(() => {});
  return (
    <output className="note">
      The link’s text is by {linked}. Here {running} runs, which writes another one.{' '}
      {canLoad(linked) ? (
        <Button variant="quiet" disabled={isLoading} onClick={load}>
          Load {linked}
        </Button>
      ) : (
        'The sender loaded that model from files. To get the same text, load the same files.'
      )}
    </output>
  );
}

/** Whether the ID is one of the hub, or the model that comes with the page. */
function canLoad(id: string): boolean {
  return id === 'storyteller' || /^[^\s/]+\/[^\s/]+$/.test(id);
}
