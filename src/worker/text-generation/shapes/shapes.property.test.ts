import { Ajv2020 } from 'ajv/dist/2020.js';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonSchema } from '../../../batching/options/response-format.ts';
import type { Lookahead, TokenConstraint } from '../../../batching/generation/request.ts';
import { createRandom } from '../../testing/random-choices.ts';
import { randomSchema } from '../../testing/random-schemas.ts';
import { allowedBy, canWrite, createShape, loadShapedModel } from './test-support.ts';
import { IS_WHOLE, SEED, runsOf } from '../../../batching/testing/whole-run.ts';

const NUM_SCHEMAS = IS_WHOLE ? 1000 : 60;
const MAX_TOKENS = 400;

const ajv = new Ajv2020({ strict: false });
const model = await loadShapedModel();
const [end = -1] = model.config.eosTokenIds;

/** Places that were looked at ahead of a text, and what was found otherwise once it came there. */
const ahead = { numPlaces: 0, differences: Array.from<string>([]) };

/** A text of allowed tokens, each as likely; undefined if it does not end. Half the time the lowest, so that strings end. */
async function randomText(schema: JsonSchema, seed: number): Promise<string | undefined> {
  const random = createRandom(seed);
  const shape = await createShape(model, { type: 'json_schema', schema });
  const tokenIds: number[] = [];
  while (tokenIds.length < MAX_TOKENS) {
    for (const { tokenId, place } of drawAhead(shape, random)) {
      if (tokenId !== end) tokenIds.push(tokenId);
      const isOver = tokenId === end || (await shape.accept(tokenId));
      if (place) {
        ahead.numPlaces += 1;
        const isSame =
          !isOver && place.forced === shape.forced?.()[0] && String(place.mask) === String(shape.mask?.());
        if (!isSame) ahead.differences.push(`SEED=${seed - 1}, behind ${tokenIds.length} tokens`);
      }
      if (isOver) return model.tokenizer.vocabulary.decode(tokenIds);
    }
  }
  return undefined;
}

/** Up to four tokens that the text then takes, and the place behind each that is known. */
function drawAhead(shape: TokenConstraint, random: () => number) {
  const drawn: { readonly tokenId: number; readonly place: Lookahead | undefined }[] = [];
  for (let place = shape.ahead?.(); place && drawn.length < 4; place = drawn.at(-1)?.place) {
    const { mask, after } = place;
    const allowed = allowedBy({ mask: () => mask }, model);
    const tokenId = allowed[random() < 0.5 ? 0 : Math.floor(allowed.length * random())] ?? end;
    drawn.push({ tokenId, place: tokenId === end ? undefined : after(tokenId) });
  }
  return drawn;
}

describe(`${NUM_SCHEMAS} random schemas from SEED=${SEED}`, () => {
  it('have only texts that ajv finds valid, whatever tokens are drawn, and allow those that they foresee', async () => {
    let numEnded = 0;
    for (let seed = SEED; seed < SEED + NUM_SCHEMAS; seed += 1) {
      const schema = randomSchema(seed);
      const text = await randomText(schema, seed + 1);
      if (text === undefined) continue;
      numEnded += 1;
      const validate = ajv.compile(typeof schema === 'boolean' ? schema : { ...schema });
      const isValid = validate(JSON.parse(text));
      expect(
        isValid,
        `SEED=${seed}: ${text} ${JSON.stringify(validate.errors)} ${JSON.stringify(schema)}`,
      ).toBe(true);
    }
    expect(numEnded).toBeGreaterThan(NUM_SCHEMAS / 3);
    expect(ahead.differences).toEqual([]);
    expect(ahead.numPlaces).toBeGreaterThan(NUM_SCHEMAS);
  }, 600_000);
});

/** Regular expressions over a, b and 1, of groups inside each other. */
const pattern: fc.Memo<string> = fc.memo((depth) => {
  const atom = fc.constantFrom('a', 'b', '1', '[ab]', '[a-b1]', String.raw`\d`);
  if (depth <= 1) return atom;
  const part = pattern(depth - 1);
  return fc.oneof(
    atom,
    fc.tuple(part, part).map((parts) => parts.join('')),
    fc.array(part, { minLength: 2, maxLength: 3 }).map((parts) => `(${parts.join('|')})`),
    fc.tuple(part, fc.constantFrom('?', '*')).map(([repeated, count]) => `(${repeated})${count}`),
    fc.tuple(atom, fc.constantFrom('+', '{1,3}')).map((parts) => parts.join('')),
  );
});

it('patterns have the texts that JavaScript’s regular expressions match, and no others', async () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', '1'), minLength: 1, maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(
      pattern(5),
      fc.uniqueArray(text, { minLength: 20, maxLength: 20 }),
      async (regex, texts) => {
        const matched = new RegExp(`^(?:${regex})$`, 'u');
        for (const each of texts) {
          const shape = await createShape(model, { type: 'regex', pattern: regex });
          const written = await canWrite(model, shape, each);
          expect(written, `“${each}” by ${regex}`).toBe(matched.test(each));
        }
      },
    ),
    { numRuns: runsOf({ whole: 1000, part: 50 }) },
  );
}, 600_000);
