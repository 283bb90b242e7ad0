import type { Locator, Page } from 'playwright/test';

import type { Chat } from '../src/ui/views/chat/chats.ts';
import { answerGreedily } from './support/answer-greedily.ts';
import { axeViolations, expectNoViolations } from './support/axe.ts';
import { SMALLEST_CHAT_MODEL, test as base } from './support/hub-test.ts';
import { blur, pressOn, tabTo, typeInto } from './support/keyboard.ts';
import { ANY_BACKEND, expect } from './support/test.ts';
import { DEFAULT_KNOBS, Tab } from './support/tab.ts';

/** A batch wait that no test outlasts: what is sent stays waiting. */
const HELD_MS = 3_600_000;

const chatOf = (page: Page, ordinal: number): Locator =>
  page.getByRole('listitem', { name: `Chat ${ordinal}`, exact: true });

const boxOf = (page: Page, ordinal: number): Locator =>
  page.getByRole('textbox', { name: `Message to Chat ${ordinal}` });

const answersOf = (part: Locator | Page): Locator => part.getByTestId('answer-text');

const askAll = (page: Page): Locator => page.getByRole('button', { name: 'Ask all 3 chats at once' });

const test = base.extend<{ readonly chats: Tab }>({
  /** A new tab with new chats, in a profile without others. The shared one runs its model. */
  chats: async ({ chatTab, backend }, provide) => {
    const context = chatTab.page.context();
    await chatTab.page.evaluate(forgetChats);
    const tab = new Tab(context, await context.newPage());
    await tab.open(`?backend=${backend}&view=chat`);
    await tab.ready();
    await expect(askAll(tab.page)).toBeEnabled();
    await answerGreedily(tab.page);
    await provide(tab);
    await tab.page.close();
    // A test may hold its requests with a long batch wait.
    await chatTab.configure(DEFAULT_KNOBS);
  },
});

/** Runs in the page. */
async function forgetChats(): Promise<void> {
  localStorage.clear();
  for (const { name = '' } of await indexedDB.databases()) {
    const { promise, resolve } = Promise.withResolvers<IDBDatabase>();
    const opening = indexedDB.open(name);
    opening.addEventListener('success', () => resolve(opening.result));
    const database = await promise;
    const stores = [...database.objectStoreNames];
    const transaction = stores.length > 0 ? database.transaction(stores, 'readwrite') : undefined;
    for (const store of stores) transaction?.objectStore(store).clear();
    // Closes once the transaction has ended.
    database.close();
  }
}

async function expectFinished(part: Locator | Page, count: number): Promise<void> {
  await expect(part.locator('.exchange[data-status=finished]')).toHaveCount(count);
  await expect(part.locator('.exchange[data-status=running]')).toHaveCount(0);
}

test.describe('chats', { tag: ANY_BACKEND }, () => {
  test('that are asked at once run in one batch, answer, and reuse the tokens of the turns before', async ({
    chats,
  }) => {
    const { page } = chats;
    expect(await chats.updates(), 'what was generated unasked').toEqual([]);
    await page.getByRole('textbox', { name: 'Message to all chats' }).fill('Why is the sky blue?');
    // Sampled answers may end before the others begin.
    await page.locator('summary').filter({ hasText: 'Advanced' }).click();
    await page.getByRole('textbox', { name: 'Temperature', exact: true }).fill('0');
    await askAll(page).click();
    await expectFinished(page, 3);
    for (const ordinal of [1, 2, 3]) {
      await expect(answersOf(chatOf(page, ordinal))).toHaveText(/^[a-z ]+$/);
      await expect(chatOf(page, ordinal).locator('.answer-figures')).toHaveText(
        /^(Done|Cut).*\/s · TTFT .*token/,
      );
    }
    const steps = await chats.steps('decode');
    expect(Math.max(...steps.map(({ batchSize }) => batchSize))).toBe(3);

    await boxOf(page, 1).fill('And in the evening?');
    await boxOf(page, 1).press('Enter');
    await expectFinished(page, 4);
    const figures = await chatOf(page, 1).locator('.answer-figures').last().textContent();
    const [, reused = '', all = ''] = /(\d+) of (\d+) prompt tokens reused/.exec(figures ?? '') ?? [];
    expect(Number(reused)).toBeGreaterThan(0);
    expect(Number(reused)).toBeLessThan(Number(all));

    await boxOf(page, 2).fill('long '.repeat(20_000));
    await boxOf(page, 2).press('Enter');
    const chat = chatOf(page, 2);
    await expect(chat.locator('.exchange[data-status=failed]')).toHaveCount(1);
    await expect(chat.getByRole('status').filter({ hasText: /^Chat 2 failed: / })).toHaveCount(1);
    const whole = chat.getByRole('button', { name: 'Show all 99,999 characters' });
    expect((await chat.locator('.question').last().textContent())?.length).toBeLessThan(1000);
    await whole.click();
    await expect(whole).toHaveCount(0);

    await test.step('an answer of a shape has how likely each choice was', async () => {
      await page.getByRole('radio', { name: 'One of' }).check();
      await page.getByRole('textbox', { name: 'Choices' }).fill('yes\nno');
      await boxOf(page, 3).fill('Is the sky blue?');
      await boxOf(page, 3).press('Enter');
      await expectFinished(page, 5);
      const rows = chatOf(page, 3).getByTestId('shaped-answer').getByRole('row');
      await expect(rows).toHaveText([/Choice/, /^yes.*%$/s, /^no.*%$/s]);
      expect(await axeViolations(chatOf(page, 3))).toEqual([]);
      await page.reload();
      await expect(rows.filter({ hasText: 'the answer' })).toHaveCount(1);
    });
    expect(chats.errors).toEqual([]);
  });

  test('stop, regenerate, and ask again after an edit, which takes away what followed', async ({ chats }) => {
    const { page } = chats;
    const chat = chatOf(page, 1);
    await chats.configure({ batchWaitTimeoutMs: HELD_MS });
    await boxOf(page, 1).fill('One?');
    await boxOf(page, 1).press('Enter');
    await expect(chat.locator('.answer-figures')).toHaveText('Waiting');
    for (const text of ['Later?', 'Never?']) {
      await boxOf(page, 1).fill(text);
      await boxOf(page, 1).press('Enter');
      await expect(chat.locator('.queued').last()).toContainText(`Queued: ${text}`);
    }
    await chat.getByRole('button', { name: 'Take back “Never?”' }).click();
    await expect(boxOf(page, 1)).toHaveValue('Never?');
    await boxOf(page, 1).fill('');
    await chat.getByRole('button', { name: 'Stop' }).click();
    await expect(boxOf(page, 1), 'what was queued comes back').toHaveValue('Later?');
    await expect(chat.locator('.answer-figures')).toHaveText('Stopped');
    await chats.configure({ batchWaitTimeoutMs: 0 });

    await chat.getByRole('button', { name: 'Regenerate the answer to “One?”' }).click();
    await expectFinished(chat, 1);
    const first = await answersOf(chat).textContent();
    await boxOf(page, 1).fill('Two?');
    await boxOf(page, 1).press('Enter');
    await expectFinished(chat, 2);
    await expect(answersOf(chat).first()).toHaveText(first ?? '');
    await chat.getByRole('button', { name: 'Regenerate the answer to “Two?”' }).click();
    await expectFinished(chat, 2);
    await expect(chat.getByRole('group', { name: 'Versions' })).toContainText('2/2');
    await chat.getByRole('button', { name: 'Previous version' }).click();
    await expect(chat.getByRole('group', { name: 'Versions' })).toContainText('1/2');

    await chat.getByRole('button', { name: 'Edit “One?”' }).click();
    const editor = chat.getByRole('textbox', { name: 'Edit the message' });
    await expect(editor).toHaveValue('One?');
    await editor.fill(' ');
    await editor.press('Enter');
    await expect(chat.getByText('Write a message, or cancel.')).toBeVisible();
    await editor.fill('Three?');
    await chat.getByRole('button', { name: 'Ask again' }).click();
    await expectFinished(chat, 1);
    await expect(chat.locator('.question')).toHaveText(/Three\?/);
    await page.getByRole('button', { name: 'Undo' }).click();
    await expect(chat.locator('.question')).toHaveText([/One\?/, /Two\?/]);
    const submitted = (await chats.updates()).filter(({ type }) => type === 'submitted');
    expect(submitted.at(-1)).toMatchObject({
      input: [{ role: 'system' }, { role: 'user', content: 'Three?' }],
    });
    expect(chats.errors).toEqual([]);
  });

  test('stop in the middle of an answer, keep its beginning and continue it', async ({ chats }) => {
    const { page } = chats;
    await page.locator('summary').filter({ hasText: 'Advanced' }).click();
    await page.getByRole('textbox', { name: 'Max new tokens', exact: true }).fill('900');
    await page.locator('summary').filter({ hasText: 'Advanced' }).click();
    await chats.keepCompany(900);
    await boxOf(page, 2).fill('Why is the sky blue?');
    const stopping = page.evaluate(stopOnceWritten, 'Chat 2');
    await boxOf(page, 2).press('Enter');
    await stopping;
    await expect(chatOf(page, 2).locator('.answer-figures')).toHaveText(/^Stopped · /);
    await chats.cancelBegun();
    const answer = answersOf(chatOf(page, 2));
    await expect(answer).toHaveText(/^[a-z ]+$/);
    const beginning = (await answer.textContent()) ?? '';
    await chatOf(page, 2)
      .getByRole('button', { name: /^Continue the answer/ })
      .click();
    await expectFinished(page, 1);
    const whole = (await answer.textContent()) ?? '';
    expect(whole.startsWith(beginning) && whole.length > beginning.length, whole).toBe(true);
    await chatOf(page, 2)
      .getByRole('button', { name: /^Regenerate/ })
      .click();
    await expect(chatOf(page, 2).getByRole('group', { name: 'Versions' })).toContainText('2/2');
    const again = (await answer.textContent()) ?? '';
    expect(again, 'as if it had never been stopped').toBe(whole.slice(0, again.length));
    await expect(page.getByRole('meter', { name: 'Context of Chat 2' })).toHaveAttribute('max', '1024');
  });

  test('have settings of their own, or those of all, and answer at three temperatures at once', async ({
    chats,
  }) => {
    const { page } = chats;
    await page.getByRole('textbox', { name: 'System prompt', exact: true }).fill('Be brief.');
    await page.getByRole('button', { name: /^Settings of Chat 2/ }).click();
    await page.getByRole('textbox', { name: 'System prompt of Chat 2' }).fill('Sing.');
    await page.getByRole('textbox', { name: 'Temperature of Chat 2' }).fill('1.5');
    await page.getByRole('button', { name: 'Done' }).click();
    await expect(chatOf(page, 2).locator('.chat-system')).toHaveText('T 1.5 · Sing.');
    await askAll(page).click();
    await expectFinished(page, 3);
    const systems = (await chats.updates()).flatMap((update) =>
      update.type === 'submitted' && Array.isArray(update.input) ? [update.input[0]?.content] : [],
    );
    expect(systems.slice(0, 2)).toEqual(['Be brief.', 'Sing.']);

    await chats.forget();
    await page.getByRole('button', { name: 'More ways to ask' }).click();
    await page.getByRole('button', { name: 'Ask at temperatures 0, 0.7, 1.2' }).click();
    await expectFinished(page, 3);
    for (const [index, temperature] of ['0', '0.7', '1.2'].entries())
      await expect(chatOf(page, index + 1).locator('.chat-system')).toHaveText(
        `T ${temperature} · Be brief.`,
      );
    expect(Math.max(...(await chats.steps('decode')).map(({ batchSize }) => batchSize))).toBe(3);
    await page.getByRole('button', { name: 'Undo' }).click();
    await expect(chatOf(page, 2).locator('.chat-system')).toHaveText('T 1.5 · Sing.');

    await test.step('axe finds no fault in the middle of a text, edited, light and dark', async () => {
      await page.getByRole('button', { name: 'Edit “Why is the sky blue?”' }).first().click();
      await page.getByRole('button', { name: /^Settings of Chat 2/ }).click();
      await page.getByRole('textbox', { name: 'Seed of Chat 2' }).fill('x');
      await page
        .getByRole('button', { name: /^Rename, export or delete/ })
        .first()
        .click();
      await chatOf(page, 2)
        .getByRole('button', { name: /^Regenerate/ })
        .click();
      await chats.configure({ batchWaitTimeoutMs: HELD_MS });
      for (const text of ['And now?', 'And then?']) {
        await boxOf(page, 3).fill(text);
        await boxOf(page, 3).press('Enter');
      }
      await expectNoViolations(page);
    });
  });

  test('come back after a reload, with drafts and what an answer had by then, and are listed in every tab', async ({
    chats,
  }) => {
    const { page } = chats;
    await askAll(page).click();
    await expectFinished(page, 3);
    const answers = await answersOf(page).allTextContents();
    await page.getByRole('button', { name: 'Close Chat 3' }).click();
    await chats.configure({ batchWaitTimeoutMs: HELD_MS });
    await boxOf(page, 1).fill('And now?');
    await boxOf(page, 1).press('Enter');
    await expect(page.locator('.answer-figures').filter({ hasText: 'Waiting' })).toHaveCount(1);
    await boxOf(page, 2).fill('Not sent');
    await expect(page.locator('.main-charts'), 'the line of figures comes first').toHaveCount(0);
    await page.getByRole('button', { name: 'Show charts' }).click();
    await page.reload();
    await expect(boxOf(page, 2)).toHaveValue('Not sent');
    await expect(page.getByRole('button', { name: 'Hide charts' })).toBeVisible();
    await expect(page.locator('.main-charts')).toHaveCount(1);
    await expect(chatOf(page, 1).locator('.question')).toHaveCount(2);
    await expect(chatOf(page, 3)).toHaveCount(0);
    await expect(answersOf(chatOf(page, 1)).first()).toHaveText(answers[0] ?? '');
    await expect(answersOf(chatOf(page, 2))).toHaveText(answers[1] ?? '');
    await expect(chatOf(page, 1).locator('.answer-figures').last()).toHaveText('Stopped');

    await test.step('an answer in Markdown is drawn, with tags as text and code to copy', async () => {
      await page.evaluate(writeAnswer, '# Code\n\n```');
      await expect(answersOf(chatOf(page, 2)).getByRole('heading', { name: 'Code' })).toBeVisible();
      await expect(page.locator('.code-block'), 'nothing to copy yet').toHaveCount(0);
      await page.evaluate(writeAnswer, '# Sky\n\n<img src=x>\n\n- `blue`\n\n```js\nconst a = 1;\n```\n');
      const answer = answersOf(chatOf(page, 2));
      await expect(answer.getByRole('heading', { name: 'Sky' })).toBeVisible();
      await expect(answer.getByRole('listitem')).toHaveText('blue');
      await expect(answer).toContainText('<img src=x>');
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
      await answer.getByRole('button', { name: 'Copy the code' }).click();
      expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('const a = 1;');
    });

    const other = await page.context().newPage();
    await other.goto(page.url());
    const list = other.getByRole('list', { name: 'All chats' });
    await expect(list.getByRole('listitem')).toHaveCount(3);
    await expect(chatOf(other, 1), 'no chats of its own').toHaveCount(0);
    await list.getByRole('button', { name: /^Why is the sky blue\?.*2 questions/ }).click();
    await expect(chatOf(other, 1).locator('.question')).toHaveCount(2);
    await list
      .getByRole('button', { name: /^Rename, export or delete/ })
      .first()
      .click();
    await list.getByRole('textbox', { name: /^Title of/ }).fill('The sky');
    await list.getByRole('textbox', { name: /^Title of/ }).press('Enter');
    await expect(chatOf(page, 1).getByRole('heading', { name: 'The sky' })).toBeVisible();
    const download = other.waitForEvent('download');
    await list.getByRole('button', { name: 'Rename, export or delete “The sky”' }).click();
    await list.getByRole('button', { name: 'Markdown' }).click();
    expect((await download).suggestedFilename()).toBe('The-sky.md');
    await other.bringToFront();
    await list.getByRole('button', { name: 'Copy link' }).click();
    await expect(list.getByText('Link copied.')).toBeVisible();
    const link = await other.evaluate(() => navigator.clipboard.readText());
    await list.getByRole('button', { name: 'Delete', exact: true }).click();
    await expect(chatOf(page, 2), 'the first tab lost it, too').toHaveCount(0);
    await other.getByRole('button', { name: 'Undo' }).click();
    await other.getByRole('searchbox', { name: 'Search chats' }).fill('and now');
    await expect(list.getByRole('listitem')).toHaveText(/^The sky/);
    await expect(page.getByText('The sky', { exact: true })).toBeVisible();

    await test.step('a link brings a chat back as a new one, and says what would answer in its place', async () => {
      await other.goto('about:blank');
      await other.goto(link.replace(/model=[^&]*/, 'model=owner%2Fname'));
      await expect(chatOf(other, 1).getByRole('heading', { name: 'The sky' })).toBeVisible();
      await expect(chatOf(other, 1).locator('.question')).toHaveCount(2);
      await expect(other.getByRole('button', { name: 'Load owner/name' })).toBeVisible();
      expect(new URL(other.url()).hash).toBe('');
      await other.goto('about:blank');
      await other.goto(link.slice(0, link.indexOf('exchanges')));
      await expect(other.getByText('LINK_BROKEN')).toBeVisible();
    });
    await other.close();
  });

  test('are used by the keyboard alone', async ({ chats }) => {
    const { page } = chats;
    await blur(page);
    await typeInto(page, page.getByRole('textbox', { name: 'Message to all chats' }), 'Hello');
    await page.keyboard.press('Enter');
    await expectFinished(page, 3);
    await pressOn(page, chatOf(page, 2).getByRole('button', { name: /^Regenerate/ }));
    await expectFinished(page, 3);
    await expect(chatOf(page, 2).locator('.exchange'), 'the focus stays in the chat').toBeFocused();
    await pressOn(page, chatOf(page, 2).getByRole('button', { name: /^Edit/ }));
    await page.keyboard.press('Escape');
    await expect(chatOf(page, 2).locator('.exchange'), 'the focus comes back').toBeFocused();
    await pressOn(page, page.getByRole('button', { name: 'New chat' }));
    await expect(boxOf(page, 4), 'which brings it into view').toBeFocused();
    await chats.configure({ batchWaitTimeoutMs: HELD_MS });
    await typeInto(page, boxOf(page, 4), 'One');
    await page.keyboard.press('Shift+Enter');
    await page.keyboard.type('Two');
    await page.keyboard.press('Enter');
    await expect(chatOf(page, 4).locator('.question p')).toHaveText('You: One\nTwo', { useInnerText: true });
    await page.keyboard.press('Escape');
    await expect(chatOf(page, 4).locator('.answer-figures')).toHaveText('Stopped');
    await pressOn(page, page.getByRole('button', { name: 'Close Chat 4' }));
    await expect(chatOf(page, 4)).toHaveCount(0);
    await tabTo(page, page.getByRole('tab', { name: 'Chat' }));
    await page.keyboard.press('ArrowLeft');
    await expect(page.getByRole('tab', { name: 'Text' })).toHaveAttribute('aria-selected', 'true');
  });
});

test(
  'a base model can’t chat: the view says so, names models with what they take, and loads one that can',
  { tag: ANY_BACKEND },
  async ({ ownTab, hub, backend }) => {
    const { page } = ownTab;
    const load = { name: `Load ${SMALLEST_CHAT_MODEL}` };
    await ownTab.open(`?backend=${backend}&hub=${encodeURIComponent(hub.url)}&view=chat`);
    await ownTab.ready();
    await expect(page.getByText('storyteller continues texts and has no chat template')).toBeVisible();
    await expect(askAll(page)).toBeDisabled();
    await page.getByRole('button', { name: 'Another model…' }).click();
    const panel = page.getByRole('region', { name: 'Load another model' });
    await expect(panel.getByLabel('Hugging Face model ID')).toBeFocused();
    const row = panel
      .getByRole('list', { name: 'Suggested models' })
      .getByRole('listitem')
      .filter({ hasText: 'SmolLM2-135M-Instruct' });
    await expect(row).toContainText(/chat.*parameters · \d+ MB download · Apache-2.0/);
    await expect(row).toContainText(/(Fits|Tight): .* with one text of [\d,]+ tokens/);
    await row.getByRole('button', load).click();
    await expect(row).toContainText('In use');
    await expect(row).toContainText('on this device');
    await page.keyboard.press('Escape');
    await expect(page.getByRole('listitem', { name: 'Chat 1' })).toBeVisible();
    await askAll(page).click();
    // Random weights end an answer anywhere, or not at all.
    await expect(page.locator('.answer-figures').filter({ hasText: 'TTFT' })).toHaveCount(3);
    await expect(page.locator('.exchange[data-status=running]')).toHaveCount(0);

    await (await ownTab.openStatus()).getByRole('button', { name: 'Back to storyteller' }).click();
    await expect.poll(async () => (await ownTab.status()).model?.id).toBe('storyteller');
    await expect(row.getByRole('button', load)).toBeEnabled();
    await page.keyboard.press('Escape');
    await expect(page.getByText('storyteller can’t chat: it only continues texts.')).toBeVisible();
    await page.locator('.chat-models').getByRole('button', load).click();
    await expect(askAll(page)).toBeEnabled();
    await expect(answersOf(page), 'the chats are still there').toHaveCount(3);
    expect(ownTab.errors).toEqual([]);
  },
);

/** Runs in the page: another tab tells it that the second answer of its chats has this text. */
async function writeAnswer(text: string): Promise<void> {
  const { columns } = JSON.parse(sessionStorage.getItem('tabserve-chat') ?? '{}');
  const database = await new Promise<IDBDatabase>((resolve) => {
    const opening = indexedDB.open('tabserve-chat');
    opening.addEventListener('success', () => resolve(opening.result));
  });
  const chat = await new Promise<Chat>((resolve) => {
    const reading = database.transaction('chats').objectStore('chats').get(columns[1]);
    reading.addEventListener('success', () => resolve(reading.result));
  });
  database.close();
  const exchanges = chat.exchanges.map((exchange) => ({
    ...exchange,
    answers: exchange.answers.map((answer) => ({ ...answer, text })),
  }));
  const changed = { ...chat, exchanges, changedAtMs: Date.now() + 1 };
  new BroadcastChannel('tabserve-chat').postMessage({ type: 'changed', chat: changed });
}

/** Runs in the page: presses Stop as soon as the chat's answer has begun. */
async function stopOnceWritten(name: string): Promise<void> {
  const chat = document.querySelector(`[aria-label="${name}"]`);
  for (;;) {
    const buttons = [...(chat?.querySelectorAll('button') ?? [])];
    const stop = buttons.find(({ textContent }) => textContent === 'Stop');
    if (stop && chat?.querySelector('[data-testid=answer-text]')?.textContent) return stop.click();
    await new Promise(requestAnimationFrame);
  }
}
