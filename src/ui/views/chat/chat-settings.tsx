import { useId } from 'react';

import { Button } from '../../parts/button.tsx';
import type { GenerationField } from '../../state/generation-fields.ts';
import { parseGeneration, placeholderOf } from '../../state/typed-options.ts';
import { useServeView } from '../../state/serve-context.ts';
import { chatDefaults, COLUMN_FIELDS } from './chat-options.ts';
import type { Chat } from './chats.ts';
import { useRoom, useRoomView } from './room-context.ts';

/** A column's chat. */
export interface NamedChatProps {
  readonly chat: Chat;
  readonly name: string;
}

/** The column's own settings. An empty field takes the value of all chats. */
export function ChatSettingsForm({ chat, name, onDone }: NamedChatProps & { readonly onDone: () => void }) {
  const room = useRoom();
  const shared = useRoomView((view) => view.systemPrompt);
  const { id, title, systemPrompt, texts, exchanges } = chat;
  return (
    <>
      {COLUMN_FIELDS.map((field) => (
        <ColumnField key={field.name} chat={chat} name={name} field={field} />
      ))}
      <label className="stacked top small">
        Title
        <input
          type="text"
          autoComplete="off"
          value={title ?? ''}
          placeholder="First words"
          onChange={({ target: { value } }) => room.list.rename(id, value)}
        />
      </label>
      <label className="stacked whole small">
        System prompt
        <textarea
          aria-label={`System prompt of ${name}`}
          rows={2}
          value={systemPrompt ?? ''}
          placeholder={systemPrompt === '' ? 'None' : shared}
          onChange={({ target: { value } }) =>
            room.list.change(id, (before) => ({ ...before, systemPrompt: value }))
          }
        />
      </label>
      <div className="cluster whole">
        <Button variant="small" onClick={onDone}>
          Done
        </Button>
        <Button
          variant="quiet"
          disabled={systemPrompt === undefined && Object.values(texts ?? {}).every((text) => text === '')}
          onClick={() =>
            room.list.change(id, (before) => ({ ...before, systemPrompt: undefined, texts: undefined }))
          }
        >
          Use those of all chats
        </Button>
        <Button variant="quiet" disabled={exchanges.length === 0} onClick={() => room.list.clear(id)}>
          Clear messages
        </Button>
      </div>
    </>
  );
}

interface ColumnFieldProps extends NamedChatProps {
  readonly field: GenerationField;
}

function ColumnField({ chat: { id, texts }, name, field }: ColumnFieldProps) {
  const room = useRoom();
  const errorId = useId();
  const text = texts?.[field.name] ?? '';
  const shared = useRoomView((view) => view.texts[field.name] ?? '');
  const standard = useServeView(
    ({ status }) =>
      chatDefaults(status)[field.name] ?? placeholderOf(field, status.model?.generationDefaults),
  );
  const error = parseGeneration({ [field.name]: text }).errors[field.name];
  return (
    <label className="stacked top small">
      {field.label}
      <input
        type="text"
        inputMode="decimal"
        autoComplete="off"
        aria-label={`${field.label} of ${name}`}
        aria-invalid={error !== undefined}
        aria-describedby={error === undefined ? undefined : errorId}
        value={text}
        placeholder={shared || standard}
        onChange={({ target: { value } }) =>
          room.list.change(id, (before) => ({ ...before, texts: { ...before.texts, [field.name]: value } }))
        }
      />
      {error !== undefined && (
        <span id={errorId} className="error-line">
          {error}
        </span>
      )}
    </label>
  );
}
