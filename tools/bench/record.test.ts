import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';

import { pathOf } from '../paths.ts';
import { readRecords } from './record.ts';

const folder = await mkdtemp(join(tmpdir(), 'records-'));
afterAll(() => rm(folder, { recursive: true }));

/** As the name of a case: records are read from the folder `bench`. */
const name = relative(pathOf('bench'), join(folder, 'case'));

describe('readRecords', () => {
  it('reads records as they are', async () => {
    const records = [{ key: 'wasm', note: 'A note.', groups: [{ columns: [], rows: [] }] }];
    await writeFile(join(folder, 'case.json'), JSON.stringify({ schemaVersion: 6, records }));
    expect(readRecords(name)).toEqual(records);
  });

  it('finds none where none were written', () => {
    expect(readRecords('never-measured')).toEqual([]);
  });

  it.each([
    '',
    '{"schemaVersion": 6, "records": [',
    '{}',
    'null',
    '{"schemaVersion": 5, "records": []}',
    '{"schemaVersion": 6, "records": [{}]}',
    '{"schemaVersion": 6, "records": [{"key": "wasm", "groups": [{}]}]}',
  ])('names a damaged file and the remedy: %s', async (text) => {
    await writeFile(join(folder, 'case.json'), text);
    expect(() => readRecords(name)).toThrow(
      `bench/${name}.json is damaged. Run \`git restore bench/${name}.json\`, or delete it and run`,
    );
  });
});
