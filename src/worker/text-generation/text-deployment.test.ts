import { describe, expect, it, vi } from 'vitest';
import { systemClock, type Clock } from '../../batching/base/clock.ts';
import { clientId, requestId } from '../../batching/generation/test-support.ts';
import { createGenerationMetrics } from '../../batching/metrics/generation-metrics.ts';
import { MetricsRegistry } from '../../batching/metrics/registry.ts';
import { FakeClock } from '../../batching/testing/fake-clock.ts';
import type { Dtype } from '../../protocol/models.ts';
import type { RequestUpdate, Resumption } from '../../protocol/requests.ts';
import type { TabserveStats } from '../../protocol/stats.ts';
import { ScriptedBackend } from '../testing/scripted-backend.ts';
import { StatsReporter } from '../../protocol/stats-reporter.ts';
import type { ChatTemplate } from '../models/tokenizer/chat-template.ts';
import { createScriptedModel, createServedModel, scriptedChatTemplate } from '../test-support.ts';
import { serveModel } from './serve-model.ts';
import { TextDeployment } from './text-deployment.ts';

function createModel(id: string, chatTemplate?: ChatTemplate, precision: Dtype = 'fp32') {
  const model = createScriptedModel(new ScriptedBackend(), { chatTemplate });
  const { modelInfo, backendInfo } = model;
  return { ...model, modelInfo: { ...modelInfo, id }, backendInfo: { ...backendInfo, precision } };
}

/** A deployment that waits for its first model. */
function createLoading(clock: Clock = systemClock) {
  const updates: RequestUpdate[] = [];
  const metrics = createGenerationMetrics(new MetricsRegistry(), 'text-generator');
  const sent: TabserveStats[] = [];
  const stats = new StatsReporter(clock, metrics, {
    gauges: () => deployment.gauges,
    send: (figures) => sent.push(figures),
  });
  const deployment: TextDeployment = new TextDeployment(stats, (batch) => updates.push(...batch), {
    onRuntimeLost: () => {},
  });
  return { deployment, updates, sent };
}

/** A deployment whose model counts up through the alphabet. */
async function createDeployment(chatTemplate?: ChatTemplate, clock?: Clock) {
  const { deployment, updates, sent } = createLoading(clock);
  await serveModel(deployment, createModel('old', chatTemplate));
  return {
    deployment,
    updates,
    sent,
    submit: (name: string, maxNewTokens: number, input: unknown = 'ab') => {
      const id = requestId(name);
      deployment.submitAll([
        {
          requestId: id,
          clientId: clientId('tab'),
          input,
          options: { maxNewTokens },
          elapsedMs: 0,
        },
      ]);
      return {
        types: (): string[] => updates.filter((update) => update.requestId === id).map(({ type }) => type),
        /** Updates after the last restart. */
        text: (): string => {
          const own = updates.filter((update) => update.requestId === id);
          const since = own.slice(own.findLastIndex(({ type }) => type === 'restarted') + 1);
          return since.map((update) => (update.type === 'chunk' ? update.text : '')).join('');
        },
      };
    },
  };
}

it('says how much memory is left once a limit that was lowered under a text holds', async () => {
  const clock = new FakeClock();
  const { deployment, submit, sent } = await createDeployment(undefined, clock);
  const running = submit('running', 20);
  await vi.waitFor(() => expect(running.types()).toContain('chunk'), { interval: 1 });
  deployment.configure({ kvCacheMemoryBytes: 1 });
  await vi.waitFor(() => expect(running.types()).toContain('finished'));
  expect(sent.at(-1)?.kvCache.reservedBytes).toBeGreaterThan(0);
  await vi.waitFor(() => expect(deployment.gauges.kvCache.reservedBytes).toBe(0));
  clock.advance(100);
  expect(sent.at(-1)?.kvCache.reservedBytes).toBe(0);
});

/** The updates of a text of two tokens that begins anew. */
const BEGUN_ANEW = ['restarted', 'accepted', 'started', 'chunk', 'chunk', 'finished'];

describe('a text generator whose model is ejected', () => {
  it('ends what it has, and asks for the model with the first prompt alone', async () => {
    const { deployment, submit } = await createDeployment();
    const restore = vi.fn<() => void>();
    const running = submit('running', 6);
    await vi.waitFor(() => expect(running.text().length).toBeGreaterThan(1));
    await deployment.eject(restore);
    expect(running.types().at(-1)).toBe('finished');
    expect(restore).not.toHaveBeenCalled();
    const later = [submit('one', 3), submit('two', 3)];
    expect(restore).toHaveBeenCalledTimes(1);
    expect(deployment.gauges.numWaiting).toBe(2);
    await serveModel(deployment, createModel('old'));
    await vi.waitFor(() =>
      expect(later.map(({ types }) => types().at(-1))).toEqual(['finished', 'finished']),
    );
  });

  it('asks for the model at once if a prompt came while the last text ended', async () => {
    const { deployment, submit } = await createDeployment();
    const restore = vi.fn<() => void>();
    submit('running', 6);
    const ejected = deployment.eject(restore);
    const meanwhile = submit('meanwhile', 3);
    await ejected;
    expect(restore).toHaveBeenCalledTimes(1);
    expect(meanwhile.types()).toEqual([]);
  });

  it('fails what waits if the model is lost, and asks again with the next prompt', async () => {
    const { deployment, submit } = await createDeployment();
    const restore = vi.fn<() => void>();
    await deployment.eject(restore);
    const waiting = submit('waiting', 3);
    deployment.fail({ code: 'MODEL_TOO_LARGE', message: 'why' });
    await deployment.eject(restore);
    expect(waiting.types()).toEqual(['failed']);
    submit('next', 3);
    expect(restore).toHaveBeenCalledTimes(2);
  });
});

describe('a text generator whose model changes', () => {
  it('lets the old model end what it has, and the new one begin what comes', async () => {
    const { deployment, submit } = await createDeployment();
    const running = submit('running', 6);
    await vi.waitFor(() => expect(running.text().length).toBeGreaterThan(1));
    const switched = serveModel(deployment, createModel('new'), 'finish');
    const later = submit('later', 3);
    expect(later.types()).toEqual([]);
    await switched;
    expect(running.types()).not.toContain('restarted');
    expect(running.text()).toBe('cdefgh');
    await vi.waitFor(() => expect(later.types().at(-1)).toBe('finished'));
    expect(later.text()).toBe('cde');
  });

  it('begins all anew with the new one where that is asked for, in their order', async () => {
    const { deployment, submit, updates } = await createDeployment();
    const running = submit('running', 200);
    await vi.waitFor(() => expect(running.text().length).toBeGreaterThan(1));
    const switched = serveModel(deployment, createModel('new'), 'resubmit');
    const later = submit('later', 3);
    await switched;
    await vi.waitFor(() => expect(later.types().at(-1)).toBe('finished'));
    deployment.cancel(requestId('running'));
    expect(running.types().filter((type) => type === 'restarted')).toHaveLength(1);
    expect(running.text()).toMatch(/^cde/);
    expect(running.types().at(-1)).toBe('failed');
    expect(later.types()).not.toContain('restarted');
    const started = updates.filter(({ type }) => type === 'started').map((update) => update.requestId);
    expect(started).toEqual(['running', 'running', 'later']);
    const models = updates.flatMap((update) =>
      'model' in update ? `${update.type} ${update.model.id}` : [],
    );
    expect(models).toEqual(['started old', 'restarted new', 'started new', 'started new']);
  });

  it('begins a chat anew with the template of the new one, or says that it has none', async () => {
    const { deployment, submit, updates } = await createDeployment(scriptedChatTemplate);
    const chat = submit('chat', 200, [{ role: 'user', content: 'kl' }]);
    await vi.waitFor(() => expect(chat.text().length).toBeGreaterThan(1));
    const other: ChatTemplate = { sourceFor: () => '', render: () => 'pq' };
    await serveModel(deployment, createModel('other', other), 'resubmit');
    await vi.waitFor(() => expect(chat.text()).toMatch(/^rst/));
    await serveModel(deployment, createModel('base'), 'resubmit');
    expect(chat.types().at(-1)).toBe('failed');
    expect(updates.at(-1)).toMatchObject({ error: { code: 'NO_CHAT_TEMPLATE' } });
  });

  it('knows of a text that another worker has begun, until its model is there', async () => {
    const { deployment } = createLoading();
    const resubmit = (name: string, resumption: Resumption) =>
      deployment.submitAll([
        {
          requestId: requestId(name),
          clientId: clientId('tab'),
          input: 'ab',
          options: {},
          elapsedMs: 9,
          resumption,
        },
      ]);
    resubmit('waits', { choices: [] });
    expect(deployment.hasBegunText).toBe(false);
    resubmit('runs', { choices: [{ tokenIds: [27] }], queueWaitMs: 3, ttftMs: 5 });
    expect(deployment.hasBegunText).toBe(true);
    await serveModel(deployment, createModel('new'));
    expect(deployment.hasBegunText).toBe(false);
  });

  it('changes while nobody waits', async () => {
    const { deployment, submit } = await createDeployment();
    await serveModel(deployment, createModel('new'), 'finish');
    const request = submit('a', 2);
    await vi.waitFor(() => expect(request.types().at(-1)).toBe('finished'));
  });

  it('goes on with the old one, and with what came meanwhile, when the wait for it is ended', async () => {
    const { deployment, submit } = await createDeployment();
    const running = submit('running', 250);
    await vi.waitFor(() => expect(running.text().length).toBeGreaterThan(1));
    const wait = new AbortController();
    const switched = serveModel(deployment, createModel('new'), 'finish', wait.signal);
    const later = submit('later', 3);
    wait.abort(new Error('cancelled'));
    await expect(switched).rejects.toThrow('cancelled');
    await vi.waitFor(() => expect(later.types().at(-1)).toBe('finished'));
    expect([running.types().at(-1), later.text()]).toEqual(['chunk', 'cde']);
    await serveModel(deployment, createModel('new'), 'resubmit');
    expect(running.types().filter((type) => type === 'restarted')).toHaveLength(1);
    deployment.cancel(requestId('running'));
  });

  it('does not wait for a request that is cancelled meanwhile', async () => {
    const { deployment, submit } = await createDeployment();
    const running = submit('running', 250);
    await vi.waitFor(() => expect(running.text().length).toBeGreaterThan(1));
    const switched = serveModel(deployment, createModel('new'), 'finish');
    const waiting = submit('waiting', 2);
    deployment.cancel(requestId('running'));
    deployment.cancel(requestId('waiting'));
    await switched;
    expect([running.types().at(-1), waiting.types()]).toEqual(['failed', ['failed']]);
  });

  it.each([
    ['another model', createServedModel('another')],
    ['another precision', { ...createServedModel('old'), precision: 'q8' }],
  ] as const)('begins anew what %s had done at a lost worker', async (_, model) => {
    const { deployment, updates } = await createDeployment();
    deployment.submitAll([
      {
        requestId: requestId('a'),
        clientId: clientId('tab'),
        input: 'ab',
        options: { maxNewTokens: 2 },
        elapsedMs: 0,
        resumption: { model, choices: [{ tokenIds: [9999] }] },
      },
    ]);
    await vi.waitFor(() => expect(updates.at(-1)?.type).toBe('finished'));
    expect(updates.map(({ type }) => type)).toEqual(BEGUN_ANEW);
  });

  it('begins anew with another precision of the same one where that is asked for', async () => {
    const { deployment, submit, updates } = await createDeployment();
    const running = submit('running', 200);
    await vi.waitFor(() => expect(running.text().length).toBeGreaterThan(1));
    await serveModel(deployment, createModel('old', undefined, 'q8'), 'resubmit');
    await vi.waitFor(() => expect(running.text()).toMatch(/^cde/));
    deployment.cancel(requestId('running'));
    const models = updates.flatMap((update) => ('model' in update ? [update.model] : []));
    expect(models.map(({ id, precision, rung }) => `${id} ${precision} ${rung}`)).toEqual([
      'old fp32 wasm',
      'old q8 wasm',
      'old q8 wasm',
    ]);
  });
});

/** A model whose tokenizer reads a text of more than two letters in `numPieces` pieces. */
function createSlowModel(id: string, numPieces = 3) {
  const model = createModel(id);
  const pieces: string[] = [];
  function* encodeInPieces(text: string): Generator<void, number[]> {
    for (let piece = 0; text.length > 2 && piece < numPieces; piece++) {
      pieces.push(text);
      yield;
    }
    return model.tokenizer.encode(text);
  }
  return { model: { ...model, tokenizer: { ...model.tokenizer, encodeInPieces } }, pieces };
}

async function createSlowDeployment(numPieces?: number) {
  const created = await createDeployment();
  const { model, pieces } = createSlowModel('slow', numPieces);
  await serveModel(created.deployment, model);
  return { ...created, pieces };
}

describe('a long prompt', () => {
  it('is read in pieces between other tasks: a short one that comes later is accepted first', async () => {
    const { submit, pieces } = await createSlowDeployment();
    const long = submit('long', 2, 'abc');
    const other = submit('other', 2, 'abcd');
    const short = submit('short', 2);
    expect(short.types()).toEqual(['accepted']);
    expect(long.types()).toEqual([]);
    await vi.waitFor(() =>
      expect([long, other].map(({ types }) => types().at(-1))).toEqual(['finished', 'finished']),
    );
    expect(long.text()).toBe('de');
    // Each begins in its own turn of the loop; then they are read one after the other.
    expect(pieces).toEqual(['abc', 'abcd', 'abc', 'abc', 'abcd', 'abcd']);
  });

  it('that is cancelled meanwhile is read no further', async () => {
    const { deployment, submit, pieces } = await createSlowDeployment(1000);
    const long = submit('long', 2, 'abc');
    const next = submit('next', 2, 'abcd');
    deployment.cancel(requestId('long'));
    expect(long.types()).toEqual(['failed']);
    await vi.waitFor(() => expect(next.types().at(-1)).toBe('finished'));
    expect(pieces.filter((text) => text === 'abc')).toHaveLength(1);
    expect(long.types()).toEqual(['failed']);
  });

  it('goes on where another one of its turn is cancelled meanwhile', async () => {
    const { deployment, updates } = await createSlowDeployment();
    const shared = { clientId: clientId('tab'), options: { maxNewTokens: 2 }, elapsedMs: 0 };
    deployment.submitAll([
      { ...shared, requestId: requestId('gone'), input: 'abc', turn: ['t'] },
      { ...shared, requestId: requestId('stays'), input: 'ab', turn: ['t'] },
    ]);
    deployment.cancel(requestId('gone'));
    await vi.waitFor(() => expect(updates.at(-1)?.type).toBe('finished'));
    expect(updates.map(({ type, requestId: id }) => `${type} ${id}`)).toEqual([
      'failed gone',
      'accepted stays',
      'started stays',
      'chunk stays',
      'chunk stays',
      'finished stays',
    ]);
  });

  it('is read by the model that takes over meanwhile, and accepted once', async () => {
    const { deployment, submit, pieces } = await createSlowDeployment(1000);
    const long = submit('long', 2, 'abc');
    const next = createSlowModel('next');
    await serveModel(deployment, next.model, 'finish');
    await vi.waitFor(() => expect(long.types().at(-1)).toBe('finished'));
    expect(long.types().filter((type) => type === 'accepted')).toHaveLength(1);
    expect(pieces.length).toBeLessThan(1000);
    expect(next.pieces).toHaveLength(3);
  });

  it('that a lost worker had begun is begun anew, with a word, by the model that takes over meanwhile', async () => {
    const { deployment, submit, updates } = await createSlowDeployment(1000);
    submit('running', 200);
    const resumption = { model: createServedModel('slow'), choices: [{ tokenIds: [3] }], queueWaitMs: 1 };
    const [requestIdOfLong, tab] = [requestId('long'), clientId('tab')];
    const long = { requestId: requestIdOfLong, clientId: tab, input: 'abc', elapsedMs: 9 };
    deployment.submitAll([{ ...long, options: { maxNewTokens: 2 }, resumption }]);
    await serveModel(deployment, createModel('next'), 'resubmit');
    const own = () => updates.filter((update) => update.requestId === requestIdOfLong);
    await vi.waitFor(() => expect(own().at(-1)?.type).toBe('finished'));
    expect(own().map(({ type }) => type)).toEqual(BEGUN_ANEW);
    deployment.cancel(requestId('running'));
  });

  it('goes on where the load of another model is given up meanwhile, and is accepted once', async () => {
    const { deployment, submit } = await createSlowDeployment(1);
    submit('running', 8);
    const long = submit('long', 2, 'abc');
    const giveUp = new AbortController();
    const switched = serveModel(deployment, createModel('next'), 'finish', giveUp.signal);
    giveUp.abort(new Error('given up'));
    await expect(switched).rejects.toThrow('given up');
    await vi.waitFor(() => expect(long.types().at(-1)).toBe('finished'));
    expect(long.types().filter((type) => type === 'accepted')).toHaveLength(1);
  });

  it('that turns out to be too long is refused', async () => {
    const { submit, updates } = await createSlowDeployment();
    const long = submit('long', 2, 'a'.repeat(301));
    await vi.waitFor(() => expect(long.types()).toEqual(['failed']));
    expect(updates.at(-1)).toMatchObject({ error: { code: 'PROMPT_TOO_LONG' } });
  });
});
