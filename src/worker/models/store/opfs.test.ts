import { afterEach, expect, it, vi } from 'vitest';

import { OpfsJobStore } from '../../jobs/opfs-job-store.ts';
import { openFolder } from './opfs.ts';

afterEach(() => void vi.unstubAllGlobals());

const SECURELY = /pages over https and of localhost alone\).*Open this page over https/;

it.each([
  [true, /it has none here.*leave private browsing/],
  [false, SECURELY],
])('a page without storage is told what helps: secure %j', async (isSecure, message) => {
  vi.stubGlobal('navigator', {});
  vi.stubGlobal('isSecureContext', isSecure);
  const told = { message: expect.stringMatching(message) };
  await expect(openFolder('models')).rejects.toMatchObject({ code: 'MODEL_STORE_FAILED', ...told });
  await expect(new OpfsJobStore('tabserve').read()).rejects.toMatchObject({
    code: 'JOB_STORE_FAILED',
    ...told,
  });
});
