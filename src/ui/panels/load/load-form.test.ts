import { describe, expect, it } from 'vitest';

import {
  ARRIVALS,
  DEFAULT_LOAD_FORM,
  parseLoadForm as parse,
  readLoadForm,
  writeLoadForm,
} from './load-form.ts';
import type { LoadForm } from './load-form.ts';

const parseLoadForm = (form: LoadForm) => parse(form, 8, true);
const POISSON: LoadForm = { ...DEFAULT_LOAD_FORM, arrivals: 'poisson' };

const usersOf = (form: LoadForm, maxBatchSize: number) => parse(form, maxBatchSize, true).scenario.arrivals;

describe('the load form', () => {
  it('is right as it comes, with every kind of arrivals', () => {
    for (const [arrivals] of ARRIVALS) {
      expect(parseLoadForm({ ...DEFAULT_LOAD_FORM, arrivals }).errors).toEqual({});
    }
  });

  it('makes a scenario of what is typed', () => {
    const form = {
      ...DEFAULT_LOAD_FORM,
      arrivals: 'ramp',
      fromRate: '0',
      toRate: '12.5',
      seed: '9',
    } as const;
    expect(parseLoadForm(form).scenario).toEqual({
      arrivals: { type: 'ramp', fromPerSecond: 0, toPerSecond: 12.5 },
      durationSeconds: 5,
      seed: 9,
      promptWords: { type: 'uniform', min: 3, max: 12 },
      outputTokens: { type: 'uniform', min: 8, max: 64 },
    });
  });

  it('saturates by default: a closed loop of twice as many users as a batch has room for', () => {
    expect(usersOf(DEFAULT_LOAD_FORM, 8)).toEqual({ type: 'closed-loop', numUsers: 16 });
    expect(usersOf(DEFAULT_LOAD_FORM, 3)).toEqual({ type: 'closed-loop', numUsers: 6 });
    expect(usersOf(DEFAULT_LOAD_FORM, 1000)).toEqual({ type: 'closed-loop', numUsers: 256 });
    const three = { ...DEFAULT_LOAD_FORM, numUsers: '3' };
    expect(usersOf(three, 8)).toEqual({ type: 'closed-loop', numUsers: 3 });
  });

  it.each([
    ['rate', ['', '0', '-1', 'many', '1001']],
    ['durationSeconds', ['0', '601', 'Infinity']],
    ['outputMax', ['1.5', '0', '7']],
    ['seed', ['-1', '4294967296', '0.5']],
    ['latencyLimitMs', ['0', 'soon']],
  ] as const)('refuses what is out of range for %s, naming it', (field, texts) => {
    for (const text of texts) {
      const { errors } = parseLoadForm({ ...POISSON, [field]: text });
      expect(Object.keys(errors)).toEqual([field]);
      expect(errors[field]).toContain(`Expected ${field} to be`);
    }
  });

  it('does not judge fields that the chosen arrivals do not use', () => {
    expect(parseLoadForm({ ...POISSON, numUsers: 'none' }).errors).toEqual({});
  });

  it.each([
    { outputLengths: 'fixed', outputMin: '', outputMax: '4' },
    { promptLengths: 'fixed', promptMin: '9', promptMax: '2' },
    {
      arrivals: 'replay',
      durationSeconds: 'long',
      promptMin: '',
      promptMax: '0',
      outputMin: '9',
      outputMax: '2',
    },
    { arrivals: 'replay', rate: '1000', durationSeconds: '600' },
  ] as const)('does not judge fields that it does not show (%j)', (change) => {
    expect(parseLoadForm({ ...DEFAULT_LOAD_FORM, ...change }).errors).toEqual({});
  });

  it('makes one length of what is all alike, whatever its hidden field holds', () => {
    const form = { ...DEFAULT_LOAD_FORM, outputLengths: 'fixed', outputMin: 'none', outputMax: '4' } as const;
    expect(parseLoadForm(form).scenario.outputTokens).toEqual({ type: 'fixed', min: 4, max: 4 });
  });

  it('judges a ramp by its mean rate', () => {
    const ramp = { ...DEFAULT_LOAD_FORM, arrivals: 'ramp', fromRate: '0', durationSeconds: '600' } as const;
    expect(parseLoadForm({ ...ramp, toRate: '10' }).errors).toEqual({});
    expect(parseLoadForm({ ...ramp, toRate: '20' }).errors.durationSeconds).toContain('got about 6000');
  });

  it('refuses more requests than a page can hold', () => {
    const { errors } = parseLoadForm({ ...POISSON, rate: '100', durationSeconds: '60' });
    expect(errors.durationSeconds).toContain('got about 6000');
  });
});

describe('a load form in a link', () => {
  it('comes back as it was, and holds only what is not as by default', () => {
    const form = { ...DEFAULT_LOAD_FORM, mode: 'sweep', rate: '3.5', seed: '42' } as const;
    expect(writeLoadForm(form)).toBe('{"mode":"sweep","rate":"3.5","seed":"42"}');
    expect(readLoadForm(writeLoadForm(form))).toEqual(form);
  });

  it.each([undefined, '', 'no JSON', '[]', '{"mode":"destroy"}', '{"seed":7}'])(
    'that says nothing sensible (%s) changes nothing',
    (json) => {
      expect(readLoadForm(json)).toEqual(DEFAULT_LOAD_FORM);
    },
  );
});

it('a request that is only read has no output length', () => {
  const form = { ...POISSON, outputMax: 'many' };
  expect(parse(form, 8, true).errors).toHaveProperty('outputMax');
  expect(parse(form, 8, false).errors).toEqual({});
});
