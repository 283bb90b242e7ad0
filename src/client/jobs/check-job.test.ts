import { describe, expect, it } from 'vitest';

import { createJob } from './create-job.ts';

/** As a caller without types gives them. */
function create(options: unknown): Promise<unknown> {
  return createJob(Object(options), () => Promise.reject(new Error('A bad job is not sent')), false);
}

const ROWS = [{ a: '1' }];

describe('jobs.create refuses by name', () => {
  it.each([
    ['no options', undefined, 'INVALID_OPTION', 'rows'],
    ['no rows', {}, 'INVALID_OPTION', 'rows'],
    ['rows that are no list', { rows: 5, template: '' }, 'INVALID_OPTION', 'rows'],
    ['rows that are a text', { rows: 'a', template: '' }, 'INVALID_OPTION', 'rows'],
    ['no template', { rows: ROWS }, 'INVALID_OPTION', 'template'],
    ['a template that is no text', { rows: ROWS, template: 3 }, 'INVALID_OPTION', 'template'],
    [
      'a system message that is no text',
      { rows: ROWS, template: '', system: {} },
      'INVALID_OPTION',
      'system',
    ],
    ['another deployment', { rows: ROWS, template: '', deployment: 'adder' }, 'INVALID_OPTION', 'deployment'],
    ['a misspelled option', { rows: ROWS, template: '', option: {} }, 'UNKNOWN_OPTION', 'option'],
    [
      'a shape of vectors',
      { rows: ROWS, template: '', deployment: 'embedder', chat: true },
      'UNKNOWN_OPTION',
      'chat',
    ],
    ['rows and requests', { rows: ROWS, template: '', requests: [] }, 'INVALID_OPTION', 'requests'],
    ['requests with a template', { requests: [{}], template: '' }, 'UNKNOWN_OPTION', 'template'],
  ])('%s', async (_, options, code, param) => {
    await expect(create(options)).rejects.toMatchObject({ code, param });
  });
});
