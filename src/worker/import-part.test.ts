import { describe, expect, it, vi } from 'vitest';
import { importPart } from './import-part.ts';

const gone = () => Promise.reject(new TypeError('Failed to fetch dynamically imported module'));

describe('importPart', () => {
  it('brings the module', async () => {
    expect(await importPart(() => Promise.resolve({ answer: 42 }))).toEqual({ answer: 42 });
  });

  it.each([
    [true, 'as after a new version: reload the page'],
    [false, 'This device is offline'],
  ])('says what to do where it cannot be fetched (online: %s)', async (onLine, says) => {
    vi.stubGlobal('navigator', { onLine });
    await expect(importPart(gone)).rejects.toMatchObject({
      code: 'PAGE_OUTDATED',
      message: expect.stringContaining(says),
    });
  });

  it('leaves what the module throws by itself as it is', async () => {
    const fault = new RangeError('its own');
    await expect(importPart(() => Promise.reject(fault))).rejects.toBe(fault);
  });
});
