import { OfferedModels } from '../../panels/models/offered-models.tsx';
import { useServeView } from '../../state/serve-context.ts';

/** Shown if the model can't chat: the reason, and the models that can. */
export function ChatModels() {
  const served = useServeView(({ status }) => status.model?.id);
  return (
    <OfferedModels className="chat-models" isOffered={({ isChat }) => isChat}>
      <p>
        <strong>{served}</strong> continues texts and has no chat template, so it can’t chat. Load a model
        that can:
      </p>
    </OfferedModels>
  );
}
