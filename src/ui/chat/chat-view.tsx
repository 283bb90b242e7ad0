import { use } from 'react';

import { AdvancedPanel } from '../compose/advanced-panel.tsx';
import { CHAT_VIEW } from '../deployments/selected-deployment.ts';
import { TextAreaField } from '../parts/field.tsx';
import { Part } from '../parts/panel-boundary.tsx';
import { PolicyPanel } from '../policy/policy-panel.tsx';
import { SlotPanel } from '../slots/slot-panel.tsx';
import { useIsUpstream, useServe } from '../state/serve-context.ts';
import { TabPanel } from '../parts/tab-list.tsx';
import { FiguresRow } from '../watch/figures-row.tsx';
import { MainCharts } from '../watch/main-charts.tsx';
import { AskPanel } from './ask-panel.tsx';
import { CHAT_DEFAULTS, CHAT_FIELDS } from './chat-options.ts';
import './chat-view.css';
import { ChatsPanel } from './chats-panel.tsx';
import { openRoom, RoomContext, useRoom, useRoomView } from './room-context.ts';

/** Left, what all chats have in common; right, the chats and how they run together. */
export function ChatView() {
  const { serve, store } = useServe();
  const room = use(openRoom(serve, store));
  const isUpstream = useIsUpstream();
  return (
    <RoomContext value={room}>
      <TabPanel id={CHAT_VIEW} className="workspace generator-view chat-view">
        <div className="rail">
          <Part name="Ask all chats" content={<AskPanel />} />
          <Part name="Batching policy" content={<PolicyPanel name="chat-policy" />} />
          <div className="rail-more">
            <SystemPromptField />
            <Part
              name="Advanced"
              content={<AdvancedPanel form={room} fields={CHAT_FIELDS} defaults={CHAT_DEFAULTS} />}
            />
          </div>
        </div>
        <div className="stage">
          <Part name="Figures" content={<FiguresRow />} />
          <Part name="Charts" content={<MainCharts emptyText="Ask all chats to see them run together." />} />
          {!isUpstream && <Part name="K/V slots" content={<SlotPanel />} />}
          <Part name="Chats" content={<ChatsPanel />} />
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
      onChange={(event) => room.setSystemPrompt(event.target.value)}
    />
  );
}
