import { describe, expect, it, vi } from 'vitest';

import { PlayedWorker, type Submitted } from '../testing/played-worker.ts';
import { createLanguageModel } from './create-language-model.ts';
import type { LanguageModelTool } from './types.ts';

const SCHEMA = { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] };
const CALL = { id: 'call_1', name: 'double', arguments: '{"a":2}' };

const double = {
  name: 'double',
  description: 'Doubles a number.',
  inputSchema: SCHEMA,
  execute: async ({ a }: { a: number }) => String(2 * a),
};

/** A worker whose model calls the tool in answers with these numbers, from 1. */
function createCaller(isCall: (count: number) => boolean): PlayedWorker {
  const worker = new PlayedWorker();
  let count = 0;
  const answer = (submitted: Submitted): undefined => {
    count += 1;
    if (isCall(count))
      worker.answer(submitted, ['raw'], { reasoning: '', content: 'Wait. ', toolCalls: [CALL] });
    else worker.answer(submitted, ['fine']);
  };
  worker.reply = answer;
  return worker;
}

async function createSession(worker: PlayedWorker, tools: readonly LanguageModelTool[] = [double]) {
  return createLanguageModel({ serve: worker.serve }).create({ tools });
}

describe('a session with tools', () => {
  it('runs the calls of an answer, and tells the model what they gave', async () => {
    const worker = createCaller((count) => count === 1);
    const session = await createSession(worker);
    expect(await session.prompt('Double two.')).toBe('Wait. fine');
    const { execute: _execute, inputSchema: parameters, ...own } = double;
    expect(worker.submitted[0]?.options.tools).toEqual([{ ...own, parameters }]);
    const talk = [
      { role: 'user', content: 'Double two.' },
      { role: 'assistant', content: 'Wait. ', toolCalls: [CALL] },
      { role: 'tool', content: '4', toolCallId: 'call_1' },
    ];
    expect(worker.submitted[1]?.input).toEqual(talk);
    await session.prompt('And?');
    expect(worker.submitted[2]?.input).toEqual([
      ...talk,
      { role: 'assistant', content: 'fine' },
      { role: 'user', content: 'And?' },
    ]);
  });

  it('rejects the prompt with the error of a tool, and keeps the prompt out of the session', async () => {
    const worker = createCaller((count) => count === 1);
    const failing = { ...double, execute: () => Promise.reject(new RangeError('too large')) };
    const session = await createSession(worker, [failing]);
    await expect(session.prompt('one')).rejects.toThrow(new RangeError('too large'));
    await session.prompt('two');
    expect(worker.submitted.at(-1)?.input).toEqual([{ role: 'user', content: 'two' }]);
  });

  it('gives up on a model that only calls tools', async () => {
    const execute = vi.fn<(input: unknown) => Promise<string>>(async () => '');
    const worker = createCaller(() => true);
    const session = await createSession(worker, [{ ...double, execute }]);
    await expect(session.prompt('one')).rejects.toMatchObject({ name: 'OperationError' });
    expect(execute).toHaveBeenCalledTimes(16);
  });

  it.each([
    ['a name', { description: 'a', execute: double.execute }],
    ['a function', { name: 'a', description: 'a' }],
  ])('is refused without %s', async (_, tool) => {
    const untyped: { create(options: object): Promise<unknown> } = createLanguageModel({
      serve: new PlayedWorker().serve,
    });
    await expect(untyped.create({ tools: [tool] })).rejects.toBeInstanceOf(TypeError);
  });
});

const promptWith = async (responseConstraint: object, rest: object = {}) => {
  const worker = new PlayedWorker();
  const session = await createLanguageModel({ serve: worker.serve }).create();
  await session.prompt('one', { responseConstraint, ...rest });
  return worker.submitted[0];
};

describe('a constraint', () => {
  it('is asked of the worker, and the model is told of it', async () => {
    const schema = { type: 'null' };
    expect(await promptWith(schema)).toMatchObject({
      input: [{ content: 'one\n\nAnswer with JSON that fits this schema: {"type":"null"}' }],
      options: { responseFormat: { type: 'json_schema', schema } },
    });
    expect(await promptWith(/^a+$/u)).toMatchObject({
      input: [{ content: 'one\n\nAnswer with a text that matches /^a+$/u.' }],
      options: { responseFormat: { type: 'regex', pattern: '^a+$' } },
    });
  });

  it('is of the prefix and the answer together', async () => {
    const worker = new PlayedWorker();
    const session = await createLanguageModel({ serve: worker.serve }).create();
    const begun = { role: 'assistant', content: 'a', prefix: true } as const;
    await session.prompt([{ role: 'user', content: 'one' }, begun], { responseConstraint: /a+/ });
    expect(worker.submitted[0]?.options).toMatchObject({ responseFormat: { type: 'regex', prefix: 'a' } });
  });

  it('may be left out of the prompt', async () => {
    expect(await promptWith(SCHEMA, { omitResponseConstraintInput: true })).toMatchObject({
      input: [{ content: 'one' }],
      options: { responseFormat: { type: 'json_schema' } },
    });
  });

  it('is refused where JSON or the worker cannot write it', async () => {
    await expect(promptWith(/a/i)).rejects.toMatchObject({ name: 'NotSupportedError' });
    const cycle: { self?: object } = {};
    cycle.self = cycle;
    await expect(promptWith(cycle)).rejects.toMatchObject({ name: 'NotSupportedError' });
  });

  it.each([
    ['valid', SCHEMA, undefined, true],
    ['invalid where its worker says so', SCHEMA, 'RESPONSE_FORMAT_UNSUPPORTED', false],
    ['invalid with flags that change its meaning', /a/i, undefined, false],
  ])('is %s', async (_, constraint, code, isValid) => {
    const worker = new PlayedWorker();
    if (code !== undefined)
      worker.reply = ({ requestId }) => {
        worker.update({ type: 'failed', requestId, error: { code, message: code } });
        return undefined;
      };
    const made = createLanguageModel({ serve: worker.serve });
    expect(await made.isValidConstraint(constraint)).toBe(isValid);
  });
});
