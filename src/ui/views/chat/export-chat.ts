import { shownAnswer, titleOf, type Chat } from './chats.ts';

/** As a document: the answers in view, which are Markdown themselves. */
export function chatAsMarkdown(chat: Chat): string {
  const parts = chat.exchanges.flatMap((exchange) => [
    `**You** (${new Date(exchange.askedAtMs).toISOString()})`,
    exchange.question,
    '**Answer**',
    shownAnswer(exchange).text,
  ]);
  const system = chat.systemPrompt ? [`> System: ${chat.systemPrompt.replaceAll('\n', '\n> ')}`] : [];
  return `${[`# ${titleOf(chat)}`, ...system, ...parts].join('\n\n')}\n`;
}

/** The name of a downloaded file, without its extension: letters and digits of any script. */
export function fileNameOf(chat: Chat): string {
  return (
    titleOf(chat)
      .replaceAll(/[^\p{L}\p{N}]+/gu, '-')
      .replaceAll(/^-|-$/g, '') || 'chat'
  );
}
