import { describe, expect, it } from 'vitest';

import { TEXT_GENERATOR, type ClientUpdate, type TabserveClient } from '../../../client/index.ts';
import { applyEvents, createServeStore } from '../serve-store.ts';
import { createStatus, idOf } from '../../testing/test-support.ts';
import { Composer, EMPTY_PROMPT } from './composer.ts';
import { exportDocument } from './export-document.ts';
import { EMPTY_GENERATION_TEXTS } from '../generation-fields.ts';
import { withPermalink } from '../permalink.ts';

const ID = idOf('a');
const PROMPT = 'Once upon a time,';

/** A composer whose requests all have one id; `receive` plays the updates that the client gets. */
function createComposer(prompt: string, temperature = '') {
  const store = createServeStore(createStatus());
  const receive = (...updates: ClientUpdate[]): void =>
    applyEvents(store, [{ type: 'requests', updates, receivedAtMs: 0 }]);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all that the composer calls
  const serve = {
    getHandle: () => ({
      remote: (input: string) => {
        receive({ type: 'submitted', requestId: ID, deployment: TEXT_GENERATOR, input });
        return { requestId: ID };
      },
    }),
    cancel: () => {},
  } as unknown as TabserveClient;
  const texts = { ...EMPTY_GENERATION_TEXTS, temperature };
  const { hash } = new URL(withPermalink('http://localhost', { prompt, texts }));
  const composer = new Composer(serve, store, hash);
  const errorCode = (): string | undefined => composer.store.getState().error?.code;
  return { composer, store, receive, errorCode };
}

it('a composer after a failure sends nothing, keeps the text, and sends again once a model runs', async () => {
  const { composer, store } = createComposer(PROMPT);
  applyEvents(store, [{ type: 'status', status: createStatus({ state: 'failed' }), receivedAtMs: 0 }]);
  await composer.send();
  await composer.sendAll(['one', 'two']);
  expect(store.getState().requests.size).toBe(0);
  expect(composer.store.getState().document.text).toBe(PROMPT);
  applyEvents(store, [{ type: 'status', status: createStatus(), receivedAtMs: 0 }]);
  await composer.send();
  expect(store.getState().requests.size).toBe(1);
});

it('knows what the requests of the last run were sent with, until a run begins anew', async () => {
  const { composer, receive } = createComposer(PROMPT, '0.7');
  await composer.send();
  expect(composer.sentAs(ID)).toEqual({ prompt: PROMPT, options: { temperature: 0.7 } });
  receive({ type: 'failed', requestId: ID, error: { code: 'REQUEST_TIMEOUT', message: 'why' } });
  expect(composer.sentAs(ID)).toBeDefined();
  composer.changeOption('temperature', '');
  await composer.send();
  expect(composer.sentAs(ID)).toEqual({ prompt: PROMPT, options: {} });
});

describe('what was wrong with a text or its options', () => {
  it('is over once the text is edited', async () => {
    const { composer, errorCode } = createComposer('');
    await composer.send();
    expect(errorCode()).toBe('EMPTY_PROMPT');
    composer.edit('Once');
    expect(errorCode()).toBeUndefined();
  });

  it('is over once its option is changed, or all are reset', async () => {
    const { composer, errorCode } = createComposer(PROMPT, 'warm');
    await composer.send();
    expect(errorCode()).toBe('INVALID_OPTION');
    composer.changeOption('temperature', '0.7');
    expect(errorCode()).toBeUndefined();

    composer.changeOption('temperature', 'hot');
    await composer.send();
    expect(errorCode()).toBe('INVALID_OPTION');
    composer.resetOptions();
    expect(errorCode()).toBeUndefined();
  });

  it('is over once anything is changed, where the request itself failed', async () => {
    const { composer, receive, errorCode } = createComposer(PROMPT);
    await composer.send();
    receive({ type: 'failed', requestId: ID, error: { code: 'REQUEST_TIMEOUT', message: 'why' } });
    expect(errorCode()).toBe('REQUEST_TIMEOUT');
    composer.changeOption('timeoutMs', '');
    expect(errorCode()).toBeUndefined();
  });

  it('is not over while the prompt is as empty as it was', async () => {
    const { composer } = createComposer('');
    await composer.send();
    composer.changeOption('temperature', '0.7');
    composer.resetOptions();
    expect(composer.store.getState().error).toBe(EMPTY_PROMPT);
  });
});

it('an exported document has the options that its continuation was sent with, whatever the fields say by now', async () => {
  const { composer, store, receive } = createComposer(PROMPT, '0.7');
  await composer.send();
  receive({ type: 'chunk', requestId: ID, index: 0, text: ' there', tokenIds: [1] });
  composer.changeOption('temperature', '1.3');
  const exportNow = () => exportDocument(composer.store.getState(), store.getState());
  expect(exportNow()).toMatchObject({ text: `${PROMPT} there`, options: { temperature: 0.7 } });
  composer.edit(`${PROMPT} here`);
  expect(exportNow()).toMatchObject({ text: `${PROMPT} here`, options: { temperature: 1.3 } });
});
