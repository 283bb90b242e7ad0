// Runs in the page: the AI SDK as an app has it, on the client of the page.
import { useChat } from '@ai-sdk/react';
import { DirectChatTransport, embedMany, generateText, rerank, streamText, ToolLoopAgent } from 'ai';
import { createElement, type ReactNode } from 'react';
import { createRoot } from 'react-dom/client';

import type { LoadModelOptions } from '../../src/client/index.ts';
import { createTabserve } from '../../src/client/ai-sdk/index.ts';

declare global {
  interface Window {
    readonly aiSdk: typeof aiSdk;
  }
}

interface ChatProps {
  readonly modelId: string;
  readonly maxOutputTokens: number;
  readonly load: LoadModelOptions;
}

const aiSdk = { embedMany, generateText, rerank, streamText, provider, mountChat };

Object.assign(window, { aiSdk });

function provider(load: LoadModelOptions = {}) {
  return createTabserve({ serve: window.tabserve, load });
}

/** Puts a chat into the page that `useChat` keeps, with the model in place of a server. */
function mountChat({ modelId, maxOutputTokens, load }: ChatProps): void {
  const agent = new ToolLoopAgent({
    model: provider(load)(modelId),
    maxOutputTokens,
    temperature: 0,
    providerOptions: { tabserve: { ignoreEos: true } },
  });
  const transport = new DirectChatTransport({ agent });
  const Chat = (): ReactNode => {
    const { messages, status, error, sendMessage, stop } = useChat({ transport });
    return createElement(
      'section',
      { 'aria-label': 'AI SDK chat', 'data-status': status },
      messages.map(({ id, role, parts }) =>
        createElement(
          'p',
          { key: id, 'data-role': role },
          parts.map((part) => (part.type === 'text' ? part.text : '')).join(''),
        ),
      ),
      error && createElement('p', { role: 'alert' }, error.message),
      createElement('button', { onClick: () => void sendMessage({ text: 'Hello' }) }, 'Say hello'),
      createElement('button', { onClick: () => void stop() }, 'Stop the answer'),
    );
  };
  const root = document.createElement('div');
  document.body.prepend(root);
  createRoot(root).render(createElement(Chat));
}
