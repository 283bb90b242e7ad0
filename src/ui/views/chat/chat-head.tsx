import { useId, useState } from 'react';

import { Button } from '../../parts/button.tsx';
import { IconButton } from '../../parts/icon-button.tsx';
import { describeContext, usedContext } from '../../panels/requests/describe-request.ts';
import { useServeView } from '../../state/serve-context.ts';
import { ChatSettingsForm, type NamedChatProps } from './chat-settings.tsx';
import { contextEnd, describeOwn, titleOf } from './chats.ts';
import { useRoom, useRoomView } from './room-context.ts';

/** The title, how full the context is, and the chat's own settings; a click opens them below. */
export function ChatHead({ chat, name }: NamedChatProps) {
  const room = useRoom();
  const formId = useId();
  const [isOpen, setIsOpen] = useState(false);
  const defaultText = useRoomView((view) => view.systemPrompt);
  const { id, systemPrompt } = chat;
  const prompt = systemPrompt ?? defaultText;
  const summary = [...describeOwn(chat), prompt || 'No system prompt'].join(' · ');
  return (
    <div className="chat-head ground split paper">
      <h3 className="one-line" title={titleOf(chat)}>
        {titleOf(chat)}
      </h3>
      <ContextMeter chat={chat} name={name} />
      <IconButton
        label={`Close ${name}`}
        hint="Close"
        path="M4 4l8 8M12 4l-8 8"
        onClick={() => room.list.close(id)}
      />
      <Button
        className="button-quiet chat-system whole start stack"
        aria-label={`Settings of ${name}: ${summary}`}
        aria-expanded={isOpen}
        aria-controls={formId}
        title="Temperature, seed and system prompt"
        onClick={() => setIsOpen(!isOpen)}
      >
        <span className="one-line">{summary}</span>
      </Button>
      <div id={formId} className="chat-settings stack whole" hidden={!isOpen}>
        {isOpen && <ChatSettingsForm chat={chat} name={name} onDone={() => setIsOpen(false)} />}
      </div>
    </div>
  );
}

/** Renders nothing before the first answer. */
function ContextMeter({ chat, name }: NamedChatProps) {
  const limit = useServeView(({ status }) => status.model?.contextLength ?? 0);
  const end = contextEnd(chat);
  const contextLength = end?.contextLength ?? limit;
  if (!end || contextLength === 0) return null;
  const text = `${describeContext(end, contextLength)} tokens`;
  return (
    <meter
      className="context-meter"
      aria-label={`Context of ${name}`}
      aria-valuetext={text}
      title={`Context: ${text}`}
      max={contextLength}
      high={contextLength * 0.8}
      optimum={0}
      value={usedContext(end)}
    />
  );
}
