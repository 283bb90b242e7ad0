import { expect, it } from 'vitest';

import { createAccessLog, LOG_LEVELS, PROBE_PATHS, type LogLevel } from './access-log.ts';

const ENTRY = { time: '', requestId: '', method: 'GET', durationMs: 1 };

/** The paths that a level has lines about: one request that succeeded, one that failed, and a failed probe. */
function logged(level: LogLevel): readonly string[] {
  const lines: string[] = [];
  const log = createAccessLog(level, (line) => lines.push(JSON.parse(line).path));
  log({ ...ENTRY, path: '/adder', status: 200 });
  log({ ...ENTRY, path: '/bad', status: 400 });
  log({ ...ENTRY, path: PROBE_PATHS.healthz, status: 503 });
  return lines;
}

it('health checks fill no log but the one of all', () => {
  expect(LOG_LEVELS.map(logged)).toEqual([[], ['/bad'], ['/adder', '/bad'], ['/adder', '/bad', '/healthz']]);
});
