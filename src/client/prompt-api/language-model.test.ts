import { describe, expect, it, vi } from 'vitest';

import { DEFAULT_POLICY } from '../../protocol/status.ts';
import { createKnobs } from '../../worker/test-support.ts';
import { createLanguageModel } from './create-language-model.ts';
import { CONTEXT_LENGTH, PlayedWorker, render, type Submitted } from '../testing/played-worker.ts';
import type { LanguageModelCreateOptions, ModelOptions } from './types.ts';

async function createSession(
  options: LanguageModelCreateOptions = {},
  { worker = new PlayedWorker(), ...rest }: ModelOptions & { readonly worker?: PlayedWorker } = {},
) {
  const session = await createLanguageModel({ serve: worker.serve, ...rest }).create(options);
  return { worker, session };
}

const user = (content: string) => ({ role: 'user', content }) as const;
const assistant = (content: string) => ({ role: 'assistant', content }) as const;
const system = (content: string) => ({ role: 'system', content }) as const;

/** A session to a caller without types. */
interface Untyped {
  prompt(input: unknown, options?: unknown): Promise<string>;
}

/** The chat that the next prompt of the session sends. */
async function contextOf(worker: PlayedWorker): Promise<unknown> {
  await vi.waitFor(() => expect(worker.submitted.length).toBeGreaterThan(0));
  return worker.submitted.at(-1)?.input;
}

/** A worker of which the test answers each prompt. */
function createSilentWorker(): PlayedWorker {
  const worker = new PlayedWorker();
  worker.reply = undefined;
  return worker;
}

const whenSubmitted = (worker: PlayedWorker, count: number): Promise<Submitted> =>
  vi.waitFor(() => {
    const submitted = worker.submitted[count - 1];
    if (!submitted) throw new Error('not yet');
    return submitted;
  });

describe('prompt()', () => {
  it('sends the whole session, and keeps the answer in it', async () => {
    const { worker, session } = await createSession();
    expect(await session.prompt('one')).toBe('fine');
    expect(worker.submitted[0]?.input).toEqual([user('one')]);
    await session.prompt([user('two'), user('three')]);
    expect(worker.submitted[1]?.input).toEqual([user('one'), assistant('fine'), user('two'), user('three')]);
  });

  it('counts what the template writes, and not the beginning of an answer', async () => {
    const { session } = await createSession();
    expect([session.contextUsage, session.contextWindow]).toEqual([0, CONTEXT_LENGTH]);
    const numPrompt = await session.measureContextUsage('one');
    expect(numPrompt).toBe('uone.'.length);
    await session.prompt('one');
    expect(session.contextUsage).toBe('uone.afine.'.length);
    expect(await session.measureContextUsage('two')).toBe('utwo.'.length);
  });

  it('takes any value that is no list for a text', async () => {
    const { worker, session } = await createSession();
    const untyped: Untyped = session;
    for (const input of [null, undefined, {}, 3]) await untyped.prompt(input);
    const texts = worker.submitted.map(({ input }) => input.at(-1));
    expect(texts).toEqual(['null', 'undefined', '[object Object]', '3'].map(user));
  });

  it('joins the texts of a message, and takes an empty list for an empty text', async () => {
    const { worker, session } = await createSession();
    const parts = ['foo', 'bar'].map((value) => ({ type: 'text', value }) as const);
    await session.prompt([{ role: 'user', content: parts }]);
    await session.prompt([]);
    await session.prompt([{ role: 'user', content: [] }]);
    expect(worker.submitted.map(({ input }) => input.at(-1))).toEqual(['foobar', '', ''].map(user));
  });

  it('of one session run one after another, those of two at the same time', async () => {
    const { worker, session } = await createSession({}, { worker: createSilentWorker() });
    const { session: other } = await createSession({}, { worker });
    const [first, second, beside] = [session.prompt('one'), session.prompt('two'), other.prompt('beside')];
    const running = [await whenSubmitted(worker, 1), await whenSubmitted(worker, 2)];
    expect(running.map(({ input }) => input)).toEqual([[user('one')], [user('beside')]]);
    for (const submitted of running) worker.answer(submitted, ['A']);
    worker.answer(await whenSubmitted(worker, 3), ['B']);
    expect(await Promise.all([first, second, beside])).toEqual(['A', 'B', 'A']);
  });

  it('that fails leaves the session as it was, and the next one goes on', async () => {
    const { worker, session } = await createSession();
    await expect(session.prompt('refuse me')).rejects.toMatchObject({
      name: 'NotSupportedError',
      message: 'The template refuses this.',
      cause: { code: 'CHAT_TEMPLATE_FAILED' },
    });
    await session.prompt('two');
    expect(await contextOf(worker)).toEqual([user('two')]);
  });

  it('goes on from a prefix, of which the answer has no part and the session has', async () => {
    const { worker, session } = await createSession();
    expect(await session.prompt([user('one'), { ...assistant('Well, '), prefix: true }])).toBe('fine');
    const tokens = Array.from('uone.AWell, ', (character) => character.charCodeAt(0));
    expect(worker.submitted[0]?.input).toEqual(tokens);
    await session.prompt('two');
    expect(worker.submitted[1]?.input).toEqual([user('one'), assistant('Well, fine'), user('two')]);
  });

  it.each([
    ['a system message after another', [system('a'), system('b')], 'TypeError'],
    ['an unknown role', [{ role: 'tool', content: '' }], 'TypeError'],
    ['a message without content', [{ role: 'user' }], 'TypeError'],
    ['a text that is none', [{ role: 'user', content: [{ type: 'text', value: {} }] }], 'TypeError'],
    ['a type that does not exist', [{ role: 'user', content: [{ type: 'soup', value: '' }] }], 'TypeError'],
    ['an image', [{ role: 'user', content: [{ type: 'image', value: {} }] }], 'NotSupportedError'],
    ['a prefix of the user', [{ ...user('a'), prefix: true }], 'SyntaxError'],
    ['a prefix that is not the last', [{ ...assistant('a'), prefix: true }, user('b')], 'SyntaxError'],
  ])('refuses %s', async (_, input, name) => {
    const { worker, session } = await createSession();
    const untyped: Untyped = session;
    await expect(untyped.prompt(input)).rejects.toMatchObject({ name });
    expect(worker.submitted).toEqual([]);
  });

  it('refuses a system message once the session has begun, also by a prompt that waits', async () => {
    const { session } = await createSession();
    const first = session.append('one');
    await expect(session.prompt([system('late')])).rejects.toBeInstanceOf(TypeError);
    await first;
  });

  it('refuses to leave out a constraint that is not there, or that is neither a schema nor a pattern', async () => {
    const { session } = await createSession();
    await expect(session.prompt('one', { omitResponseConstraintInput: true })).rejects.toBeInstanceOf(
      TypeError,
    );
    const untyped: Untyped = session;
    await expect(untyped.prompt('one', { responseConstraint: 'a+' })).rejects.toBeInstanceOf(TypeError);
  });

  it('gives the worker what the page has chosen, and an answer no more than the context', async () => {
    const generation = { maxNewTokens: 7, seed: 3, chatTemplateArguments: { enable_thinking: false } };
    const { worker, session } = await createSession({ samplingMode: 'most-predictable' }, { generation });
    await session.prompt('one');
    expect(worker.submitted[0]?.options).toEqual({ ...generation, temperature: 0, topK: 0 });
    const { session: other } = await createSession({}, { worker });
    await other.prompt('one');
    expect(worker.submitted[1]?.options).toMatchObject({ maxNewTokens: CONTEXT_LENGTH, temperature: 0.8 });
  });
});

describe('append()', () => {
  it('computes its messages ahead, and is followed as by one prompt of both', async () => {
    const { worker, session } = await createSession();
    expect(await session.append('one')).toBeUndefined();
    expect(worker.submitted[0]).toMatchObject({ input: [user('one')], options: { maxNewTokens: 1 } });
    expect(session.contextUsage).toBe('uone.'.length);
    await session.prompt('two');
    expect(worker.submitted[1]?.input).toEqual([user('one'), user('two')]);
  });
});

describe('promptStreaming()', () => {
  it('gives the pieces, which join to the answer in the session', async () => {
    const { worker, session } = await createSession();
    worker.reply = () => ['a', '', 'b ', 'c'];
    expect(await Array.fromAsync(session.promptStreaming('one'))).toEqual(['a', 'b ', 'c']);
    await session.prompt('two');
    expect(worker.submitted[1]?.input).toEqual([user('one'), assistant('ab c'), user('two')]);
  });

  it('is cancelled with its stream, and leaves nothing in the session', async () => {
    const { worker, session } = await createSession({}, { worker: createSilentWorker() });
    const reader = session.promptStreaming('one').getReader();
    const { requestId } = await whenSubmitted(worker, 1);
    worker.update({ type: 'chunk', requestId, index: 0, text: 'a', tokenIds: [] });
    expect(await reader.read()).toEqual({ done: false, value: 'a' });
    await reader.cancel();
    await vi.waitFor(() => expect(worker.received.at(-1)).toMatchObject({ type: 'cancel', requestId }));
    expect(session.contextUsage).toBe(0);
  });

  it('fails where another model begins an answer anew that was read in part', async () => {
    const { worker, session } = await createSession({}, { worker: createSilentWorker() });
    const reader = session.promptStreaming('one').getReader();
    const submitted = await whenSubmitted(worker, 1);
    const { requestId } = submitted;
    worker.update({ type: 'chunk', requestId, index: 0, text: 'a', tokenIds: [] });
    await reader.read();
    worker.update({ type: 'restarted', requestId, model: { id: 'x', backend: 'wasm', precision: 'fp32' } });
    await expect(reader.read()).rejects.toMatchObject({ name: 'OperationError' });
  });

  it('throws at once for a signal that has aborted', async () => {
    const { session } = await createSession();
    const signal = AbortSignal.abort(new Error('no'));
    expect(() => session.promptStreaming('one', { signal })).toThrow('no');
  });
});

describe('a signal', () => {
  it('ends the prompt that runs with its reason, or takes one that waits out of the queue', async () => {
    const { worker, session } = await createSession({}, { worker: createSilentWorker() });
    const [running, waiting] = [new AbortController(), new AbortController()];
    const first = session.prompt('one', { signal: running.signal });
    const second = session.prompt('two', { signal: waiting.signal });
    const third = session.prompt('three');
    await whenSubmitted(worker, 1);
    waiting.abort();
    await expect(second).rejects.toMatchObject({ name: 'AbortError' });
    const reason = new Error('enough');
    running.abort(reason);
    await expect(first).rejects.toBe(reason);
    const submitted = await whenSubmitted(worker, 2);
    expect(submitted.input).toEqual([user('three')]);
    worker.answer(submitted, ['C']);
    expect(await third).toBe('C');
  });
});

describe('destroy()', () => {
  it('ends what runs and refuses what follows with an AbortError', async () => {
    const { worker, session } = await createSession({}, { worker: createSilentWorker() });
    const running = session.prompt('one');
    const stream = session.promptStreaming('two').getReader();
    const { requestId } = await whenSubmitted(worker, 1);
    session.destroy();
    for (const outcome of [running, stream.read(), session.prompt('x'), session.append('x'), session.clone()])
      await expect(outcome).rejects.toMatchObject({ name: 'AbortError' });
    expect(() => session.promptStreaming('x')).toThrow('destroyed');
    await vi.waitFor(() => expect(worker.received).toContainEqual({ type: 'cancel', requestId }));
    expect(session.contextWindow).toBe(CONTEXT_LENGTH);
  });

  it('is what the signal of create() does, with its reason', async () => {
    const controller = new AbortController();
    const { session } = await createSession({ signal: controller.signal });
    const reason = new Error('left');
    controller.abort(reason);
    await expect(session.prompt('x')).rejects.toBe(reason);
  });
});

describe('clone()', () => {
  it('goes on from what the session has, and neither hears of the other', async () => {
    const { worker, session } = await createSession({ samplingMode: 'creative' });
    await session.prompt('one');
    const clone = await session.clone();
    expect(clone).toBeInstanceOf(session.constructor);
    expect([clone.contextUsage, clone.samplingMode]).toEqual([session.contextUsage, 'creative']);
    await clone.prompt('here');
    await session.prompt('there');
    const begun = [user('one'), assistant('fine')];
    expect(worker.submitted.slice(1).map(({ input }) => input)).toEqual([
      [...begun, user('here')],
      [...begun, user('there')],
    ]);
    session.destroy();
    expect(await clone.prompt('still')).toBe('fine');
  });

  it('is refused with the reason of a signal that aborts in its turn', async () => {
    const { session } = await createSession();
    const controller = new AbortController();
    const clone = session.clone({ signal: controller.signal });
    const reason = new Error('no');
    controller.abort(reason);
    await expect(clone).rejects.toBe(reason);
  });
});

describe('an overflow', () => {
  const initialPrompts = [system('be brief')];

  it('evicts the oldest pairs of prompt and answer, as many as it takes, and never the initial prompts', async () => {
    const { worker, session } = await createSession({ initialPrompts });
    const onOverflow = vi.fn<() => void>();
    session.oncontextoverflow = onOverflow;
    for (const text of ['1'.repeat(20), '2'.repeat(20)]) await session.prompt(text);
    expect(onOverflow).not.toHaveBeenCalled();
    await session.prompt('3'.repeat(30));
    expect(onOverflow).toHaveBeenCalledOnce();
    expect(await contextOf(worker)).toEqual([
      ...initialPrompts,
      user('2'.repeat(20)),
      assistant('fine'),
      user('3'.repeat(30)),
    ]);
    const left = [
      ...initialPrompts,
      user('2'.repeat(20)),
      assistant('fine'),
      user('3'.repeat(30)),
      assistant('fine'),
    ];
    expect(session.contextUsage).toBe(render(left).length);
  });

  it('makes room for an eighth of the window, or as much as there is', async () => {
    const { session } = await createSession();
    const onOverflow = vi.fn<() => void>();
    session.addEventListener('contextoverflow', onOverflow);
    await session.prompt('1'.repeat(30));
    // 38 tokens, and 50: the answer would have 12 left.
    await session.prompt('2'.repeat(48));
    expect(onOverflow).not.toHaveBeenCalled();
    await session.prompt('3'.repeat(95));
    expect(onOverflow).toHaveBeenCalledOnce();
    expect(session.contextUsage).toBe(`u${'3'.repeat(95)}.afine.`.length);
  });

  it('keeps a system message that began the session', async () => {
    const { worker, session } = await createSession();
    await session.append([system('be brief')]);
    await session.prompt('1'.repeat(40));
    await session.prompt('2'.repeat(40));
    expect(await contextOf(worker)).toEqual([system('be brief'), user('2'.repeat(40))]);
  });

  it('evicts nothing for a prompt beyond the window, and says how much it asks for', async () => {
    const { session } = await createSession();
    await session.prompt('one');
    const usage = session.contextUsage;
    const long = 'x'.repeat(CONTEXT_LENGTH);
    const requested = usage + (await session.measureContextUsage(long));
    await expect(session.prompt(long)).rejects.toMatchObject({
      name: 'QuotaExceededError',
      requested,
      quota: CONTEXT_LENGTH,
    });
    expect(session.contextUsage).toBe(usage);
  });

  it('counts with the window that the policy of all tabs leaves', async () => {
    const worker = new PlayedWorker();
    const { session } = await createSession({}, { worker });
    worker.change({ knobs: createKnobs({ policy: { ...DEFAULT_POLICY, maxContextLength: 20 } }) });
    await expect(session.prompt('x'.repeat(30))).rejects.toMatchObject({ quota: 20 });
    expect(session.contextWindow).toBe(20);
  });
});
