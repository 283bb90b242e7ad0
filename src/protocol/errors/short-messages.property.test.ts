import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { OPTION_NAMES } from '../../batching/options/generation-options.ts';
import { DEFAULT_POLICY } from '../../batching/generation/policy.ts';
import { updatePolicy } from '../../batching/generation/update-policy.ts';
import { toModelSource } from '../../client/model-source.ts';
import { cloneRefusal } from '../../client/base/clone-refusal.ts';
import { nameRefusal } from '../../client/base/refusals.ts';
import { readModel } from '../../worker/models/families/families.ts';
import { TINY_CONFIG } from '../../worker/testing/tiny-checkpoint.ts';
import { HUB_CONFIGS } from '../../worker/testing/hub-configs.ts';
import { ScriptedBackend } from '../../worker/testing/scripted-backend.ts';
import { createScriptedModel } from '../../worker/test-support.ts';
import { resolveOptions } from '../resolve-options.ts';
import { readMessages } from '../read-messages.ts';
import { ModelFileCorruptError } from './model.ts';
import { unknownDeployment } from './deployment-messages.ts';
import { chatTemplateRefused, modelFileMissing } from './model-messages.ts';
import { runsOf } from '../../batching/testing/whole-run.ts';

/** More than the constant parts of any message. */
const MAX_MESSAGE_LENGTH = 1000;

const HUGE = 'ab"`\\\n\u{1F600}'.repeat(20_000);
const { modelInfo } = createScriptedModel(new ScriptedBackend());
const CONFIGS: readonly Readonly<Record<string, unknown>>[] = [TINY_CONFIG, ...Object.values(HUB_CONFIGS)];

const hostile = fc.oneof(
  fc.constantFrom<unknown>(
    HUGE,
    `${HUGE}x`,
    Symbol(HUGE),
    Object(1n),
    Object.create(null),
    () => HUGE,
    1e300,
  ),
  fc.array(fc.constantFrom<unknown>(HUGE, 'x', -1, 1.5), { minLength: 1, maxLength: 3 }),
  fc.dictionary(fc.constantFrom(HUGE, 'role', '-1'), fc.constant(HUGE), { noNullPrototype: true }),
);
const options = fc.dictionary(fc.constantFrom(HUGE, ...OPTION_NAMES), hostile, { noNullPrototype: true });

it.each<readonly [string, fc.Arbitrary<unknown>, (given: never) => unknown]>([
  ['options', options, (given) => resolveOptions(given, modelInfo)],
  ['knobs', options, (given) => updatePolicy(DEFAULT_POLICY, given)],
  [
    'messages',
    fc.dictionary(fc.constantFrom('role', 'content', HUGE), hostile, { noNullPrototype: true }),
    (given) => readMessages([given]),
  ],
  ['a model', hostile.filter((given) => typeof given === 'string'), (given) => toModelSource(given, {})],
  ['the name of a deployment', hostile, (given) => nameRefusal(given)],
  ['what cannot be cloned', hostile, (given) => cloneRefusal(given, { options: given })],
  ['a name that no deployment has', hostile, (given) => unknownDeployment(given, ['adder'])],
  ['what a chat template says', hostile, (given) => chatTemplateRefused(given)],
  ['what a file says', hostile, (given) => ModelFileCorruptError.of(given, given)],
  ['where a file lies', hostile, (given) => modelFileMissing(given, given)],
])('a message that quotes %s stays short', async (_, arbitrary, quote) => {
  await fc.assert(
    fc.asyncProperty(arbitrary, async (given) => {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a sender may break the type
      const length = await lengthOf(() => quote(given as never));
      expect(length).toBeLessThan(MAX_MESSAGE_LENGTH);
    }),
  );
});

it('a message that quotes a config.json stays short', async () => {
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...CONFIGS), fc.nat(), hostile, async (config, field, value) => {
      const names = Object.keys(config);
      const changed = { ...config, [names[field % names.length] ?? '']: value };
      const length = await lengthOf(() => readModel(changed, undefined));
      expect(length).toBeLessThan(MAX_MESSAGE_LENGTH);
    }),
    { numRuns: runsOf({ whole: 400, part: 100 }) },
  );
});

/** Length of the message that an attempt fails with; 0 if it succeeds. */
async function lengthOf(attempt: () => unknown): Promise<number> {
  try {
    const outcome = await attempt();
    return outcome instanceof Error ? outcome.message.length : 0;
  } catch (error) {
    return error instanceof Error ? error.message.length : Infinity;
  }
}
