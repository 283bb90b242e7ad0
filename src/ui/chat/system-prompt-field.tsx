import { TextAreaField } from '../parts/field.tsx';
import { useRoom, useRoomView } from './room-context.ts';

/** The system prompt of every chat that has none of its own. */
export function SystemPromptField() {
  const room = useRoom();
  const text = useRoomView((view) => view.systemPrompt);
  return (
    <div className="system-prompt">
      <TextAreaField
        label="System prompt"
        hint="For every chat that has none of its own. It applies from the next message on."
        error={undefined}
        rows={2}
        value={text}
        onChange={(event) => room.setSystemPrompt(event.target.value)}
      />
    </div>
  );
}
