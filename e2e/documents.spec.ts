import { rm } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';
import type { ConsoleMessage } from 'playwright/test';

import { chatCheckpoint } from '../tools/hub-server/checkpoints/chat-checkpoint.ts';
import { ENCODERS } from '../tools/hub-server/checkpoints/encoders.ts';
import { createRepository } from '../tools/hub-server/hub-repository.ts';
import { startHubServer } from '../tools/hub-server/hub-server.ts';
import { codeBlocksOf, DOCUMENTS, placeOf, type CodeBlock } from '../tools/documents/code-blocks.ts';
import { commandsOf } from '../tools/documents/commands.ts';
import { statementsOf } from '../tools/documents/statements.ts';
import { startBridge } from './support/bridge-test.ts';
import { buildPageOfDocuments, runCurl, runInConsole } from './support/documents.ts';
import { SMALLEST_CHAT_MODEL, twinFiles } from './support/hub-test.ts';
import { someOf } from './support/seeded-random.ts';
import { openTab, type Tab } from './support/tab.ts';
import { ANY_BACKEND, expect, test } from './support/test.ts';

// The code of the documents, as a reader copies it: into the page's console, a shell, and files of a checkout.

interface Reader {
  readonly url: string;
  readonly tab: Tab;
}

const ENCODERS_OF_DOCUMENTS = {
  'sentence-transformers/all-MiniLM-L6-v2': 'generated/bert',
  'cross-encoder/ms-marco-MiniLM-L6-v2': 'generated/cross-encoder',
};

const isRunHere = ({ harness, code }: CodeBlock): boolean =>
  harness === 'page' || (harness === 'shell' && code.includes('curl '));

test.describe('the code of a document does what it says:', { tag: ANY_BACKEND }, () => {
  const opened = new AsyncDisposableStack();
  /** Of the page with the files of the documents, and of a hub that has the models that they name. */
  let url = '';

  test.beforeAll(async () => {
    test.setTimeout(300_000);
    const root = await buildPageOfDocuments();
    opened.defer(() => rm(root, { recursive: true }));
    const hub = opened.use(
      await startHubServer([
        createRepository(SMALLEST_CHAT_MODEL, chatCheckpoint()),
        createRepository('openai-community/gpt2', twinFiles()),
        ...Object.entries(ENCODERS_OF_DOCUMENTS).map(([id, generated]) =>
          createRepository(id, ENCODERS.get(generated)?.() ?? new Map()),
        ),
      ]),
    );
    const bridge = await startBridge({ hub: [hub.url], root });
    opened.defer(() => bridge.close());
    ({ url } = bridge);
  });
  test.afterAll(() => opened.disposeAsync());

  for (const document of someOf(
    DOCUMENTS.filter((name) => codeBlocksOf(name).some(isRunHere)),
    3,
  )) {
    test(document, async ({ browser, backend }) => {
      const context = await browser.newContext({ baseURL: url });
      const reader = { url, tab: await openTab(context, backend) };
      // Documents say it once, and call the client `serve` from there on.
      await runInConsole(reader.tab.page, { source: 'const serve = tabserve;' });
      for (const block of codeBlocksOf(document).filter(isRunHere))
        await test.step(placeOf(block), () => follow(reader, block));
      expect(reader.tab.errors, 'errors on the console').toEqual([]);
      await context.close();
    });
  }
});

async function follow(reader: Reader, block: CodeBlock): Promise<void> {
  const { page } = reader.tab;
  if (block.argument === 'chat')
    await page.evaluate((id) => window.tabserve.loadModel(id), SMALLEST_CHAT_MODEL);
  if (block.harness === 'shell') await followInShell(reader, block);
  else await followInConsole(reader, block);
}

async function followInShell({ url }: Reader, { code }: CodeBlock): Promise<void> {
  for (const line of commandsOf(code).filter((command) => command.startsWith('curl ')))
    expect(await runCurl(line, url), line).toMatch(/\S/);
}

async function followInConsole({ tab: { page } }: Reader, block: CodeBlock): Promise<void> {
  const code = block.language === 'ts' ? stripTypeScriptTypes(block.code) : block.code;
  const printed: string[] = [];
  const print = (message: ConsoleMessage): number => printed.push(message.text());
  page.on('console', print);
  for (const statement of statementsOf(code)) {
    const value = await runInConsole(page, statement);
    if (statement.expected !== undefined) expect(value, statement.source).toEqual(statement.expected);
    const [first] = Array.isArray(value) ? value : [value];
    for (const field of statement.fields ?? []) expect(first, statement.source).toHaveProperty(field);
  }
  if (code.includes('console.log(')) await expect.poll(() => printed, 'printed').not.toEqual([]);
  page.off('console', print);
}
