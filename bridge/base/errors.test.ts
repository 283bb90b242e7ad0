import { expect, it } from 'vitest';

import { BridgeError } from './errors.ts';

it.each([
  ['EADDRNOTAVAIL', 'CANNOT_LISTEN', '10.9.8.7 is not an address of this machine: pass --host'],
  ['ENOTFOUND', 'CANNOT_LISTEN', 'The name 10.9.8.7 has no address: pass --host'],
  ['EAI_AGAIN', 'CANNOT_LISTEN', 'DNS lookup of 10.9.8.7 failed: no server answered. Pass --host'],
  ['EACCES', 'CANNOT_LISTEN', 'may not listen on port 80 of 10.9.8.7: pass --port'],
  ['EAFNOSUPPORT', 'CANNOT_LISTEN', 'no network of the kind of 10.9.8.7: pass --host'],
  ['EADDRINUSE', 'PORT_IN_USE', 'Port 80 on 10.9.8.7 is in use: stop what listens there, or pass --port 81'],
  ['EMFILE', 'CANNOT_LISTEN', 'Cannot listen on port 80 of 10.9.8.7 (listen EMFILE): pass another --host'],
])('%s is one line that names the address and the remedy', (code, ownCode, message) => {
  const cause = Object.assign(new Error(`listen ${code}`), { code });
  const error = BridgeError.cannotListen('10.9.8.7', 80, cause);
  expect(error).toMatchObject({ code: ownCode, cause, message: expect.stringContaining(message) });
  expect(error.message).not.toContain('\n');
});

it('a port that is in use is not followed by one that no machine has', () => {
  const cause = Object.assign(new Error('listen'), { code: 'EADDRINUSE' });
  expect(BridgeError.cannotListen('::1', 65_535, cause).message).toMatch(/pass --port 0\.$/);
});
