import { describe, expect, it } from 'vitest';
import { importPart } from './import-part.ts';

const gone = () => Promise.reject(new TypeError('Failed to fetch dynamically imported module'));

describe('importPart', () => {
  it('brings the module', async () => {
    expect(await importPart(() => Promise.resolve({ answer: 42 }))).toEqual({ answer: 42 });
  });

  it('says what to do where it cannot be fetched', async () => {
    await expect(importPart(gone)).rejects.toMatchObject({
      code: 'PAGE_OUTDATED',
      message: expect.stringContaining('Reload the page'),
    });
  });

  it('leaves what the module throws by itself as it is', async () => {
    const fault = new RangeError('its own');
    await expect(importPart(() => Promise.reject(fault))).rejects.toBe(fault);
  });
});
