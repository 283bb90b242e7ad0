import { expect, it } from 'vitest';

import { asRequestId } from '../../../protocol/ids.ts';
import { callId } from './call-id.ts';
import { FAMILIES, syntaxOf } from './test-support.ts';

const idsOf = (family: string): readonly string[] => {
  const found = FAMILIES.find((each) => each.family === family);
  if (!found) throw new Error(`no ${family}`);
  const syntax = { thinking: 'never', tools: syntaxOf(found) } as const;
  return ['0af3', '0af4'].flatMap((id) => [0, 1].map((number) => callId(asRequestId(id), number, syntax)));
};

it('the IDs of calls tell of which answer they are', () => {
  expect(idsOf('Qwen 3')).toEqual(['call_0af3_0', 'call_0af3_1', 'call_0af4_0', 'call_0af4_1']);
});

it('the IDs of calls of Mistral have nine letters and digits, always the same', () => {
  const ids = idsOf('Ministral 3');
  expect(new Set(ids).size).toBe(4);
  for (const id of ids) expect(id).toMatch(/^[a-z\d]{9}$/);
  expect(idsOf('Mistral 7B')).toEqual(ids);
});
