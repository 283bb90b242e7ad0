import { expect, it, vi } from 'vitest';

import type { GenerationOptions, PolicyName, TabserveClient } from '../../../client/index.ts';
import { createServeStore } from '../../state/serve-store.ts';
import { createStatus } from '../../testing/test-support.ts';
import { comparePolicies, measuredOf } from './compare-session.ts';

const PROMPTS = [
  { prompt: 'one', options: { maxNewTokens: 8 }, seed: 7 },
  { prompt: 'two', options: { maxNewTokens: 8 }, seed: undefined },
];

interface Sent {
  readonly policy: PolicyName | 'own';
  readonly prompt: string;
  readonly options: GenerationOptions;
}

/** Answers each request at once with a text that its prompt and seed make, or as `answer` says. */
function createSession(answer: (sent: Sent) => Promise<string> = textOf, refusal?: Error) {
  let policy: Sent['policy'] = 'own';
  const sent: Sent[] = [];
  const override = {
    signal: new AbortController().signal,
    change: (knobs: { policy: PolicyName }) => Promise.resolve((policy = knobs.policy)),
    release: () => Promise.resolve((policy = 'own')),
  };
  const generator = {
    remote: (
      prompt: string,
      { signal: _signal, ...options }: GenerationOptions & { signal: AbortSignal },
    ) => {
      const request = { policy, prompt, options };
      const requestId = `request ${sent.push(request)}`;
      const result = async () => {
        const generatedText = await answer(request);
        const usage = { numOutputTokens: 8 };
        return { choices: [{ generatedText }], usage, timings: { ttftMs: 2 } };
      };
      return { requestId, result };
    },
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all that the session calls
  const serve = {
    getHandle: () => generator,
    overridePolicy: () => (refusal ? Promise.reject(refusal) : Promise.resolve(override)),
  } as unknown as TabserveClient;
  const store = createServeStore(createStatus());
  // No step is ever reported, so that each trial waits for its timeout.
  vi.useFakeTimers();
  const abort = new AbortController();
  const session = comparePolicies(serve, store, PROMPTS, abort.signal);
  const start = async (): Promise<void> => {
    const ended = session.start();
    await vi.runAllTimersAsync();
    await ended;
    vi.useRealTimers();
  };
  const measured = () => measuredOf(session.store.getState().trials);
  return { session, store, sent, abort, start, measured, policyNow: () => policy };
}

function textOf({ prompt, options }: Sent): Promise<string> {
  return Promise.resolve(`${prompt} ${options.seed}`);
}

it('sends the same prompts with the same seeds under each policy, as an experiment, and gives the policy back', async () => {
  const { session, store, sent, start, measured, policyNow } = createSession();
  await start();
  expect(sent.map(({ policy, prompt }) => `${policy} ${prompt}`)).toEqual([
    'off one',
    'off two',
    'static one',
    'static two',
    'continuous one',
    'continuous two',
  ]);
  const [first, second] = sent.map(({ options }) => options.seed);
  expect(sent.map(({ options }) => options)).toEqual(
    sent.map((_, index) => ({ maxNewTokens: 8, seed: index % 2 === 0 ? first : second })),
  );
  expect(first, 'the seed of the run').toBe(7);
  expect(second, 'one of its own').toBeTypeOf('number');
  expect([...store.experiments]).toHaveLength(6);
  expect(session.store.getState()).toMatchObject({ isRunning: false, progress: undefined });
  const [off, fixed, continuous] = session.store
    .getState()
    .trials.map(({ outcomes }) => outcomes.map(({ texts }) => texts));
  expect(off).toHaveLength(2);
  expect([fixed, continuous]).toEqual([off, off]);
  expect(measured()).toMatchObject({ hasSameTexts: true });
  expect(policyNow()).toBe('own');
});

it('says why it was refused', async () => {
  const { session, sent, start } = createSession(
    textOf,
    Object.assign(new Error('why'), { code: 'OVERRIDE_HELD' }),
  );
  await start();
  expect(session.store.getState()).toMatchObject({ isRunning: false, error: { code: 'OVERRIDE_HELD' } });
  expect(sent).toEqual([]);
});

it('measures nothing where a request has failed, and shows the others', async () => {
  const { session, start, measured } = createSession((sent) =>
    sent.policy === 'static' && sent.prompt === 'two' ? Promise.reject(new Error('why')) : textOf(sent),
  );
  await start();
  expect(
    session.store.getState().trials.map(({ outcomes }) => outcomes.filter(({ error }) => !error).length),
  ).toEqual([2, 1, 2]);
  expect(measured()).toBeUndefined();
});

it('stops within a trial, which is dropped, and gives the policy back', async () => {
  const stopping = createSession((sent) => {
    if (sent.policy === 'static') stopping.abort.abort();
    return textOf(sent);
  });
  await stopping.start();
  expect(stopping.sent.at(-1)?.policy).toBe('static');
  expect(stopping.session.store.getState().trials.map(({ label }) => label)).toEqual(['off']);
  expect(stopping.policyNow()).toBe('own');
});

it('ends once, however often it is started: each rendering of its panel may start it', async () => {
  const { session, start } = createSession();
  const onEnd = vi.fn<() => void>();
  await start();
  await session.start(onEnd);
  expect(session.store.getState().trials).toHaveLength(3);
  expect(onEnd).not.toHaveBeenCalled();
});
