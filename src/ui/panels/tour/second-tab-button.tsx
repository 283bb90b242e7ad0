import { Button } from '../../parts/button.tsx';

/** The prompts of a second tab join the batches of this one. */
export function SecondTabButton() {
  return (
    <Button className="button-small second-tab" onClick={() => window.open(location.href)}>
      Open a second tab
    </Button>
  );
}
