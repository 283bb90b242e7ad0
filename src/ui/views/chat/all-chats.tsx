import { useId, useState } from 'react';

import { Button } from '../../parts/button.tsx';
import { Form } from '../../parts/form.tsx';
import { countOf } from '../../parts/format.ts';
import { IconButton } from '../../parts/icon-button.tsx';
import { saveFile, saveJson } from '../../browser/save-file.ts';
import { reachOfLink } from '../../parts/reach-of-link.ts';
import { useCopy } from '../../parts/use-copy.ts';
import { useServe } from '../../state/serve-context.ts';
import { withChat } from './chat-link.ts';
import { describeOwn, isBlank, titleOf, type Chat } from './chats.ts';
import { chatAsMarkdown, fileNameOf } from './export-chat.ts';
import { formatTime } from './format-time.ts';
import { shorten } from './shorten.ts';
import { useRoom, useRoomView } from './room-context.ts';
import { sharedOptions } from './room-view.ts';

/** The chats of all tabs, newest first. One is opened by a press. */
export function AllChats() {
  const titleId = useId();
  const [query, setQuery] = useState('');
  const [openId, setOpenId] = useState<string>();
  const chats = useRoomView((view) => view.chats);
  const listed = [...chats.values()].filter((chat) => !isBlank(chat));
  const found = listed
    .filter((chat) => isMatch(chat, query.trim().toLowerCase()))
    .toSorted((a, b) => b.changedAtMs - a.changedAtMs);
  return (
    <section className="all-chats stack tight" aria-labelledby={titleId}>
      <h2 id={titleId}>All chats</h2>
      {listed.length === 0 && <p className="note">Chats appear here, in every tab.</p>}
      {listed.length > 1 && (
        <input
          type="search"
          aria-label="Search chats"
          placeholder="Search"
          value={query}
          onChange={({ target }) => setQuery(target.value)}
        />
      )}
      {listed.length > 0 && found.length === 0 && <p className="note">No chat has these words.</p>}
      <ul aria-labelledby={titleId}>
        {found.map((chat) => (
          <ListedChat
            key={chat.id}
            chat={chat}
            isOpen={chat.id === openId}
            onOpen={() => setOpenId(chat.id === openId ? undefined : chat.id)}
          />
        ))}
      </ul>
    </section>
  );
}

/** @param query In lower case. */
function isMatch(chat: Chat, query: string): boolean {
  const texts = chat.exchanges.flatMap(({ question, answers }) => [
    question,
    ...answers.map(({ text }) => text),
  ]);
  return [titleOf(chat), ...texts].some((text) => text.toLowerCase().includes(query));
}

interface ListedChatProps {
  readonly chat: Chat;
  /** Whether its acts are shown. */
  readonly isOpen: boolean;
  readonly onOpen: () => void;
}

function ListedChat({ chat, isOpen, onOpen }: ListedChatProps) {
  const room = useRoom();
  const isColumn = useRoomView(({ columns }) => columns.includes(chat.id));
  const title = titleOf(chat);
  return (
    <li className="split">
      <Button
        className="button-quiet listed-open start"
        aria-pressed={isColumn}
        onClick={() => (isColumn ? room.list.close(chat.id) : room.list.open(chat.id))}
      >
        <span className="one-line">{title}</span>
        <span className="note">
          {[
            formatTime(chat.changedAtMs),
            countQuestions(chat),
            ...describeOwn(chat),
            ...(chat.systemPrompt ? [shorten(chat.systemPrompt)] : []),
          ].join(' · ')}
        </span>
      </Button>
      <IconButton
        label={`Rename, export or delete “${title}”`}
        hint="Rename, export, delete"
        path="M3.5 8h.01M8 8h.01M12.5 8h.01"
        aria-expanded={isOpen}
        onClick={onOpen}
      />
      {isOpen && <ChatActs chat={chat} title={title} onDone={onOpen} />}
    </li>
  );
}

function countQuestions({ exchanges: { length } }: Chat): string {
  return countOf(length, 'question');
}

function ChatActs({ chat, title, onDone }: { chat: Chat; title: string; onDone: () => void }) {
  const room = useRoom();
  const { serve } = useServe();
  const { said, copy } = useCopy();
  const [name, setName] = useState(title);
  const rename = (): void => {
    room.list.rename(chat.id, name.trim());
    onDone();
  };
  return (
    <div className="listed-acts whole stack tight">
      <Form onSubmit={rename}>
        <div className="row">
          <input
            className="grow"
            type="text"
            autoComplete="off"
            aria-label={`Title of “${title}”`}
            value={name}
            onChange={({ target }) => setName(target.value)}
          />
          <Button variant="small" type="submit">
            Rename
          </Button>
        </div>
      </Form>
      <div className="row">
        <Button
          variant="quiet"
          onClick={() =>
            saveFile(`${fileNameOf(chat)}.md`, new Blob([chatAsMarkdown(chat)], { type: 'text/markdown' }))
          }
        >
          Markdown
        </Button>
        <Button variant="quiet" onClick={() => saveJson(`${fileNameOf(chat)}.json`, chat)}>
          JSON
        </Button>
        <Button
          variant="quiet"
          onClick={() => {
            const shared = sharedOptions(room.store.getState());
            const link = withChat(location.href, chat, shared, serve.status().model?.id);
            void copy(link, `Link copied. It brings the chat back with its settings.${reachOfLink()}`);
          }}
        >
          Copy link
        </Button>
        <Button variant="quiet" onClick={() => room.list.remove(chat.id)}>
          Delete
        </Button>
      </div>
      <output className="note">{said}</output>
    </div>
  );
}
