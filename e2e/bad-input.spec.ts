import { greedyTokenIds, reference, withoutEnd } from './support/reference.ts';
import type { PlainRequest } from './support/tab.ts';
import { ANY_BACKEND, expect, test } from './support/test.ts';

const PROMPT = 'Once upon a time,';

interface BadRequest extends PlainRequest {
  readonly title: string;
  readonly code: string;
  /** Must be in the message. */
  readonly says: RegExp;
}

const BAD_REQUESTS: readonly BadRequest[] = [
  { title: 'an empty prompt', prompt: '', code: 'EMPTY_PROMPT', says: /empty/ },
  { title: 'a prompt that is no string', prompt: 42, code: 'INVALID_OPTION', says: /`prompt`.*42/ },
  ...[-1, 2.5, Number.NaN, '32'].map((maxNewTokens): BadRequest => ({
    title: `maxNewTokens ${String(maxNewTokens)} (${typeof maxNewTokens})`,
    prompt: PROMPT,
    options: { maxNewTokens },
    code: 'INVALID_OPTION',
    says: /`(?:\w+\.)?maxNewTokens`/,
  })),
  ...[Number.NaN, Number.POSITIVE_INFINITY, -0.1, null].map((temperature): BadRequest => ({
    title: `temperature ${String(temperature)}`,
    prompt: PROMPT,
    options: { temperature },
    code: 'INVALID_OPTION',
    says: /`(?:\w+\.)?temperature`/,
  })),
  ...Object.entries({ topK: -1, topP: 0, seed: 0.5 }).map(([name, value]): BadRequest => ({
    title: `${name} ${value}`,
    prompt: PROMPT,
    options: { [name]: value },
    code: 'INVALID_OPTION',
    says: new RegExp(`\`(?:\\w+\\.)?${name}\``),
  })),
  {
    title: 'an unknown option',
    prompt: PROMPT,
    options: { max_new_tokens: 8 },
    code: 'UNKNOWN_OPTION',
    says: /max_new_tokens.*maxNewTokens/,
  },
];

/** The client as an untyped caller sees it. */
interface UntypedServe {
  configure(name: 'text-generator', knobs: object): Promise<unknown>;
}

const BAD_KNOBS: readonly { readonly knobs: object; readonly refusal: RegExp }[] = [
  { knobs: { policy: 'sometimes' }, refusal: /^INVALID_OPTION: .*policy.*sometimes/ },
  { knobs: { maxBatchSize: 0 }, refusal: /^INVALID_OPTION: .*maxBatchSize.*`0`/ },
  { knobs: { maxBatchSize: 2.5 }, refusal: /^INVALID_OPTION: .*maxBatchSize.*`2\.5`/ },
  { knobs: { batchWaitTimeoutMs: Number.NaN }, refusal: /^INVALID_OPTION: .*batchWaitTimeoutMs.*`NaN`/ },
  { knobs: { batchWaitTimeoutMs: -1 }, refusal: /^INVALID_OPTION: .*batchWaitTimeoutMs.*`-1`/ },
  { knobs: { maxBatchedTokens: 0 }, refusal: /^INVALID_OPTION: .*maxBatchedTokens.*`0`/ },
  { knobs: { maxQueuedRequests: 0 }, refusal: /^INVALID_OPTION: .*maxQueuedRequests.*`0`/ },
  { knobs: { max_batch_size: 8 }, refusal: /^UNKNOWN_OPTION: .*max_batch_size.*maxBatchSize/ },
  { knobs: { maxBatchSize: 4, batchWaitTimeoutMs: -1 }, refusal: /^INVALID_OPTION: .*batchWaitTimeoutMs/ },
];

test(
  'every bad request is refused with its code, and a running one goes on undisturbed',
  { tag: ANY_BACKEND },
  async ({ tab }) => {
    const [entry] = reference.prompts;
    if (!entry) throw new Error('The reference holds no prompts');
    const running = tab.generate(entry.prompt, { temperature: 0, maxNewTokens: 24 });
    const outcomes = await tab.outcomesOf(
      BAD_REQUESTS.map(({ prompt, options = {} }) => ({ prompt, options })),
    );
    for (const [index, { title, code, says }] of BAD_REQUESTS.entries()) {
      expect.soft(outcomes[index]?.code, title).toBe(code);
      expect.soft(outcomes[index]?.message, title).toMatch(says);
    }
    expect(withoutEnd((await running).tokenIds)).toEqual(greedyTokenIds(entry, 24));
  },
);

test('a prompt longer than the context is refused with both numbers, in the page and for the client', async ({
  tab,
}) => {
  const { model } = await tab.status();
  const contextLength = model?.contextLength ?? 0;
  const prompt = 'once '.repeat(contextLength);
  const [outcome] = await tab.outcomesOf([{ prompt }]);
  expect(outcome?.code).toBe('PROMPT_TOO_LONG');
  expect(outcome?.message).toContain(String(contextLength));
  const numPromptTokens = Number(/has (\d+) tokens/.exec(outcome?.message ?? '')?.[1]);
  expect(numPromptTokens).toBeGreaterThanOrEqual(contextLength);
  // A request of the test before may be in the same run.
  const failed = tab.page.getByRole('list', { name: 'Requests' }).locator('[data-status=failed]');
  const row = failed.filter({ hasText: 'PROMPT_TOO_LONG' });
  await expect(row).toContainText(String(numPromptTokens));
});

test(
  'a bad knob is refused with its code, and the policy in force stays',
  { tag: ANY_BACKEND },
  async ({ tab }) => {
    const before = (await tab.status()).policy;
    const refusals = await tab.page.evaluate(
      async (badKnobs) => {
        const serve: UntypedServe = window.tabserve;
        const calls = await Promise.allSettled(
          badKnobs.map((knobs) => serve.configure('text-generator', knobs)),
        );
        return calls.map((call) =>
          call.status === 'rejected' ? `${call.reason.code}: ${call.reason.message}` : 'accepted',
        );
      },
      BAD_KNOBS.map(({ knobs }) => knobs),
    );
    for (const [index, { knobs, refusal }] of BAD_KNOBS.entries()) {
      expect.soft(refusals[index], JSON.stringify(knobs)).toMatch(refusal);
    }
    expect((await tab.status()).policy).toEqual(before);
  },
);

test('an unknown backend in the address is refused with INVALID_OPTION', async ({ page }) => {
  await page.goto('/?backend=cuda');
  await expect(page.getByRole('alert')).toContainText('INVALID_OPTION');
  await expect(page.getByRole('alert')).toContainText('cuda');
});
