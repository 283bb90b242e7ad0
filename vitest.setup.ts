import { vi } from 'vitest';

// By default these wait for a second, and a loaded machine may take longer for what they wait for.
const PATIENCE = { timeout: 20_000 };

const IS_PATIENT = Symbol.for('tabserve.isPatient');

// This file runs again before each test file, and most of those share `vi`.
if (!Object.hasOwn(vi, IS_PATIENT)) {
  const { waitFor, waitUntil } = vi;
  vi.waitFor = (callback, options = PATIENCE) => waitFor(callback, options);
  vi.waitUntil = (callback, options = PATIENCE) => waitUntil(callback, options);
  Object.assign(vi, { [IS_PATIENT]: true });
}
