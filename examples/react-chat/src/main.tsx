import { useChat } from '@ai-sdk/react';
import { DirectChatTransport, ToolLoopAgent } from 'ai';
import { StrictMode, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { createTabserve } from 'tabserve/ai-sdk';

import './style.css';

const tabserve = createTabserve({
  name: 'react-chat',
  worker: () => new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' }),
});
const agent = new ToolLoopAgent({ model: tabserve('HuggingFaceTB/SmolLM2-135M-Instruct') });
const transport = new DirectChatTransport({ agent });

function Chat() {
  const { messages, sendMessage, status, stop, error } = useChat({ transport });
  const [text, setText] = useState('');
  const isBusy = status === 'submitted' || status === 'streaming';
  return (
    <>
      <h1>Chat in this tab</h1>
      <p>The model is downloaded once, and then runs in the page, for all of its tabs.</p>
      <ol aria-live="polite">
        {messages.map(({ id, role, parts }) => (
          <li key={id} className={role}>
            {parts.map((part) => (part.type === 'text' ? part.text : ''))}
          </li>
        ))}
      </ol>
      {status === 'submitted' && <p>Waiting for the model…</p>}
      {error && <p role="alert">{error.message}</p>}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void sendMessage({ text });
          setText('');
        }}
      >
        <input aria-label="Message" value={text} onChange={({ target }) => setText(target.value)} />
        {isBusy ? (
          <button type="button" onClick={() => void stop()}>
            Stop
          </button>
        ) : (
          <button disabled={text === ''}>Send</button>
        )}
      </form>
    </>
  );
}

const root = document.querySelector('#chat');
if (root)
  createRoot(root).render(
    <StrictMode>
      <Chat />
    </StrictMode>,
  );
