import { use, useState } from 'react';

import { AdvancedPanel } from '../../panels/compose/advanced-panel.tsx';
import { CheckField, TextAreaField } from '../../parts/field.tsx';
import { Part } from '../../parts/panel-boundary.tsx';
import { readStored, writeStored } from '../../browser/stored-text.ts';
import { PolicyPanel } from '../../panels/policy/policy-panel.tsx';
import { SlotPanel } from '../../panels/slots/slot-panel.tsx';
import { useIsServer, useServe, useServeView } from '../../state/serve-context.ts';
import { TabPanel } from '../../parts/tab-list.tsx';
import { FiguresRow } from '../../panels/watch/figures-row.tsx';
import { MainCharts } from '../../panels/watch/main-charts.tsx';
import { AllChats } from './all-chats.tsx';
import { AskPanel } from './ask-panel.tsx';
import { chatDefaults, CHAT_FIELDS } from './chat-options.ts';
import './chat-view.css';
import { ChatsPanel } from './chats-panel.tsx';
import { openRoom, RoomContext, useRoom, useRoomView } from './room-context.ts';

const FOLD_KEY = 'tabserve-chat-charts';

/** Left, what all chats have in common; right, the chats and how they run together. */
export function ChatView({ name }: { readonly name: string }) {
  const { serve, store } = useServe();
  const room = use(openRoom(serve, store));
  const isServer = useIsServer();
  const defaults = useServeView(({ status }) => chatDefaults(status));
  const [isFolded, setIsFolded] = useState(() => readStored('localStorage', FOLD_KEY) !== 'open');
  const fold = (): void => {
    writeStored('localStorage', FOLD_KEY, isFolded ? 'open' : 'folded');
    setIsFolded(!isFolded);
  };
  return (
    <RoomContext value={room}>
      <TabPanel id={name} className="workspace generator-view chat-view">
        <div className="rail stack loose top">
          <Part name="Ask all chats" content={<AskPanel />} />
          <div className="rail-more stack loose">
            <SystemPromptField />
            <LoopField />
            <Part
              name="Advanced"
              content={
                <AdvancedPanel form={room} fields={CHAT_FIELDS} defaults={defaults}>
                  <PolicyPanel name="chat-policy" />
                </AdvancedPanel>
              }
            />
          </div>
          <Part name="All chats" content={<AllChats />} />
        </div>
        <div className="stage stack loose top" data-folded={isFolded}>
          <Part name="Figures" content={<FiguresRow />} />
          {!isFolded && (
            <Part
              name="Charts"
              content={
                <MainCharts
                  emptyText={`Ask all chats to see ${isServer ? 'their tokens/s and latency' : 'them run together'}.`}
                />
              }
            />
          )}
          {!isFolded && !isServer && <Part name="K/V slots" content={<SlotPanel />} />}
          <Part name="Chats" content={<ChatsPanel isFolded={isFolded} onFold={fold} />} />
        </div>
      </TabPanel>
    </RoomContext>
  );
}

/** The system prompt of every chat that has none of its own. */
function SystemPromptField() {
  const room = useRoom();
  const text = useRoomView((view) => view.systemPrompt);
  return (
    <TextAreaField
      label="System prompt"
      hint="For every chat that has none of its own. It applies from the next message on."
      rows={2}
      value={text}
      onChange={(event) => room.store.setState({ systemPrompt: event.target.value })}
    />
  );
}

/** Answers that repeat themselves are stopped by the page alone: the API’s are as the model writes them. */
function LoopField() {
  const room = useRoom();
  const allowsLoops = useRoomView((view) => view.allowsLoops ?? false);
  return (
    <CheckField
      name="stopsLoops"
      label="Stop answers that repeat themselves"
      hint="After at least four times the same words. Continue goes on with them."
      checked={!allowsLoops}
      onChange={({ target }) => room.store.setState({ allowsLoops: !target.checked })}
    />
  );
}
