import { useChat } from '@ai-sdk/react';
import { DirectChatTransport, ToolLoopAgent } from 'ai';
import { useState, type FormEvent } from 'react';
import { createRoot } from 'react-dom/client';
import { createTabserve } from 'tabserve/ai-sdk';
import { useTabserve } from 'tabserve/react';

import './style.css';

const options = {
  name: 'react-chat',
  worker: () => new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' }),
  // The first message loads the model.
  model: null,
};
const tabserve = createTabserve(options);
const agent = new ToolLoopAgent({ model: tabserve('HuggingFaceTB/SmolLM2-135M-Instruct') });
const transport = new DirectChatTransport({ agent });

function Chat() {
  const { messages, sendMessage, status, stop, error } = useChat({ transport });
  const load = useTabserve(options).status?.load;
  const [text, setText] = useState('');
  const isBusy = status === 'submitted' || status === 'streaming';
  const send = (event: FormEvent) => {
    event.preventDefault();
    void sendMessage({ text });
    setText('');
  };
  return (
    <>
      <h1>Chat in this tab</h1>
      <p>The model is downloaded once. Then it runs in the page, for all of its tabs.</p>
      <ol aria-live="polite">
        {messages.map(({ id, role, parts }) => (
          <li key={id} className={role}>
            {parts.map((part) => (part.type === 'text' ? part.text : ''))}
          </li>
        ))}
      </ol>
      {load && <progress aria-label={`Loading: ${load.phase}`} value={load.loaded} max={load.total || 1} />}
      {error && <p role="alert">{error.message}</p>}
      <form onSubmit={send}>
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
if (root) createRoot(root).render(<Chat />);
