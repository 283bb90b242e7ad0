import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import reference from '../fixtures/decoders-reference.json' with { type: 'json' };
import { DECODERS } from '../../hub-server/checkpoints/decoders.ts';

it('generated decoders are those that the reference was computed for', () => {
  expect([...DECODERS.keys()].toSorted()).toEqual(Object.keys(reference).toSorted());
  for (const [id, { files }] of Object.entries(reference)) {
    const generated = Array.from(DECODERS.get(id)?.() ?? [], ([name, file]) => {
      const sha256 = createHash('sha256').update(file.read(0, file.size)).digest('hex');
      return [name, { size: file.size, sha256 }];
    });
    expect({ id, files: Object.fromEntries(generated) }).toEqual({ id, files });
  }
});
