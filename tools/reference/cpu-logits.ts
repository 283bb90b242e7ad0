import { createHash } from 'node:crypto';

import type { Dtype } from '../../src/protocol/models.ts';
import reference from './fixtures/decoders-reference.json' with { type: 'json' };

const DIGESTS: readonly (readonly [id: keyof typeof reference, dtype: Dtype, sha256: string])[] = [
  ['generated/llama', 'fp32', '03350264a4b4d097614c29cc761986dd0411fea2bbd3ae4fb28b005cde5f4cda'],
  ['generated/llama', 'q8', '33b257102ac59a2d153df386df17a5d77317dcb7fe4f083215f3ec23d1fd65de'],
  ['generated/llama', 'q4', 'b9ce9e274cf6aad233909ffce5b2a6a3626019b9074e4805a4df5c58e236448b'],
  ['generated/gemma3', 'q8', '00018925b6d2e3fb754a4c284186f429857cd0f0c4ceaa7d283b4917aa86356c'],
  ['generated/qwen35', 'q8', '10bc46d76e826bcb3f8f56fe90512c6d937477b4e6a8be4c6511c0b8a399c76f'],
  ['generated/lfm2', 'q8', '4eba1944b56171b8e066e01d695c5f93ba5c1ca93aaa296cf36cae78a18353c5'],
];

/** The CPU's logits after a prompt are the same bits in each browser and on each processor. */
export const RECORDED = DIGESTS.map(([id, dtype, sha256]) => {
  const tokenIds = reference[id].prompts.at(-1)?.promptTokenIds ?? [];
  return { id, dtype, prompts: [tokenIds], sha256 };
});

export function digestOf(logits: Iterable<number>): string {
  return createHash('sha256')
    .update(new Uint8Array(Float32Array.from(logits).buffer))
    .digest('hex');
}
