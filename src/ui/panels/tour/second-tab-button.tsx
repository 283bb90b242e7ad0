import { Button } from '../../parts/button.tsx';
import { useServeView } from '../../state/serve-context.ts';

/** The prompts of a second tab join the batches of this one. */
export function SecondTabButton() {
  const hasOthers = useServeView(({ status }) => status.numTabs > 1);
  return (
    <Button className="button-small second-tab" onClick={() => window.open(location.href)}>
      {hasOthers ? 'Open another tab' : 'Open a second tab'}
    </Button>
  );
}
