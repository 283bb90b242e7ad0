import { describe, expect, it } from 'vitest';

import { EMPTY_GENERATION_TEXTS, errorOfOptions, errorsOf } from './generation-fields.ts';
import { parseGeneration } from './typed-options.ts';

describe('generation options', () => {
  it('leaves out what is empty, so that the defaults of the model apply', () => {
    expect(parseGeneration(EMPTY_GENERATION_TEXTS)).toEqual({ options: {}, errors: {} });
  });

  it('reads every option', () => {
    const texts = {
      maxNewTokens: '32',
      temperature: ' 0.8 ',
      topK: '0',
      topP: '1',
      minP: '0.05',
      repetitionPenalty: '1.1',
      presencePenalty: '-2',
      frequencyPenalty: '0.5',
      seed: '4294967295',
      n: '16',
      priority: '-100',
      timeoutMs: '1500.5',
      logprobs: '5',
      logitBias: '50256: -100, 11:2.5,',
      stop: ' the end',
    };
    expect(parseGeneration(texts)).toEqual({
      options: {
        maxNewTokens: 32,
        temperature: 0.8,
        topK: 0,
        topP: 1,
        minP: 0.05,
        repetitionPenalty: 1.1,
        presencePenalty: -2,
        frequencyPenalty: 0.5,
        seed: 4_294_967_295,
        n: 16,
        priority: -100,
        timeoutMs: 1500.5,
        logprobs: 5,
        logitBias: { '50256': -100, '11': 2.5 },
        stop: ' the end',
      },
      errors: {},
    });
  });

  it('reads choices, one on each line, whose probabilities the page shows', () => {
    const { options } = parseGeneration({ responseFormat: 'choice\n yes\n\n no\n yes' });
    expect(options).toEqual({ responseFormat: { type: 'choice', choices: [' yes', ' no'] }, logprobs: 0 });
    expect(parseGeneration({ responseFormat: 'choice\nyes', logprobs: '3' }).options.logprobs).toBe(3);
  });

  it('reads a schema, and JSON without one', () => {
    const { options } = parseGeneration({ responseFormat: 'json_schema\n{\n"type": "string"}' });
    expect(options).toEqual({ responseFormat: { type: 'json_schema', schema: { type: 'string' } } });
    expect(parseGeneration({ responseFormat: 'json_object' }).options).toEqual({
      responseFormat: { type: 'json_object' },
    });
  });

  it.each([
    ['choice\n ', 'There is no choice. Write each on a line of its own.'],
    ['json_schema', 'There is no schema. Write one, such as {"type": "object"}.'],
    ['json_schema\n{"type": }', 'The schema isn’t JSON: expected a value at column 10'],
    ['json_schema\n{"const": 9007199254740993}', 'The schema has the number 9007199254740993'],
    ['json_schema\n7', 'Expected `responseFormat.schema` to be a JSON Schema'],
    ['haiku\nfive seven five', 'whose type is one of json_schema'],
  ])('refuses the shape %j, naming what to write', (responseFormat, message) => {
    const { options, errors } = parseGeneration({ responseFormat });
    expect(options.responseFormat).toBeUndefined();
    expect(errors.responseFormat).toContain(message);
  });

  it('finds the field of a part that the worker refuses', () => {
    const message = 'responseFormat.schema.multipleOf can’t be enforced';
    expect(errorsOf({ param: 'responseFormat.schema.multipleOf', message })).toEqual({
      responseFormat: message,
    });
    expect(errorsOf({ message })).toEqual({});
  });

  it('reads \\n in the stop string as a line break', () => {
    const { options } = parseGeneration({ ...EMPTY_GENERATION_TEXTS, stop: String.raw`.\n` });
    expect(options).toEqual({ stop: '.\n' });
  });

  it('refuses a stop string that is too long, naming its length', () => {
    const { options, errors } = parseGeneration({ ...EMPTY_GENERATION_TEXTS, stop: 'x'.repeat(257) });
    expect(options).toEqual({});
    expect(errors).toEqual({
      stop: 'Expected a text of 1 to 256 characters, got 257 characters.',
    });
  });

  it.each([
    ['maxNewTokens', ['0', '1.5', '-3', 'many', 'Infinity', '0x10', '1e1', '2.9999999999999999999']],
    ['temperature', ['-0.1', '9', 'NaN', 'Infinity', 'warm']],
    ['topK', ['-1', '2.5']],
    ['topP', ['0', '1.01', '-1']],
    ['minP', ['-0.1', '1.01', 'few']],
    ['repetitionPenalty', ['0', '-1', '101', 'Infinity']],
    ['presencePenalty', ['-2.1', '3', 'NaN']],
    ['frequencyPenalty', ['-2.1', '3', 'some']],
    ['n', ['0', '17', '1.5', 'two']],
    ['priority', ['0.5', '-101', '101', 'high']],
    ['timeoutMs', ['0', '-1', 'Infinity', 'soon']],
    ['seed', ['-1', '4294967296', '0.5', '1e3']],
    ['logprobs', ['-1', '21', '2.5', 'all']],
  ] as const)('refuses what is out of range for %s, at its field', (field, wrongTexts) => {
    for (const text of wrongTexts) {
      const { options, errors } = parseGeneration({ ...EMPTY_GENERATION_TEXTS, [field]: text });
      expect(options).toEqual({});
      expect(Object.keys(errors)).toEqual([field]);
      expect(errors[field]).toMatch(/^Expected /);
      expect(errorOfOptions(errors)?.message).toMatch(/^Check [^,]+ under Advanced\.$/);
      expect(errors[field]).toContain(`“${text}”`);
    }
  });
});
