import { canGenerate } from '../state/can-generate.ts';
import { useServeView } from '../state/serve-context.ts';

/** Whether a message is answered, now or after the load. */
export function useCanChat(): boolean {
  return useServeView(({ status }) => canGenerate(status.state) && status.model?.hasChatTemplate !== false);
}
