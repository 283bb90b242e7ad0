import { Button } from '../parts/button.tsx';
import { openModelBox } from '../header/open-model-box.ts';
import { LoadState } from '../models/load-state.tsx';
import { SuggestedModels } from '../models/suggested-models.tsx';
import { useLoadModel } from '../models/use-load-model.ts';
import { useModelLists } from '../models/use-model-lists.ts';
import { useServeView } from '../state/serve-context.ts';
import './chat-models.css';

/** Shown if the model can't chat: the reason, and the models that can. */
export function ChatModels() {
  const served = useServeView(({ status }) => status.model?.id);
  const { start, refusal } = useLoadModel();
  const { suggested, stored, refusal: listRefusal } = useModelLists();
  const models = suggested.filter(({ isChat }) => isChat);
  return (
    <div className="chat-models stack">
      <p>
        <strong>{served}</strong> continues texts and has no chat template, so it can’t chat. Load a model
        that can:
      </p>
      <LoadState refusal={refusal ?? listRefusal} onRetry={(id) => void start(id)} />
      <SuggestedModels
        models={models}
        stored={stored}
        primaryId={models.find(({ obstacle }) => obstacle === '')?.id}
        onLoad={(id) => void start(id)}
      />
      <Button variant="quiet" onClick={openModelBox}>
        Another model…
      </Button>
    </div>
  );
}
