import { describe, expectTypeOf, it } from 'vitest';
import { deployments } from '../deployments/registry.ts';
import { defineDeployment, type DeploymentTypes } from '../protocol/deployment.ts';
import { InvalidOptionError } from '../batching/base/errors.ts';
import type { GenerationResult } from '../protocol/generation.ts';
import type { BatchingPolicy, BatchKnobs } from '../protocol/status.ts';
import type { connect, TabserveClient } from './client.ts';

const sentiment = defineDeployment({
  name: 'sentiment',
  checkInput(input) {
    if (typeof input === 'string') return input;
    throw InvalidOptionError.of('input', 'a text', input);
  },
  async handler(texts) {
    expectTypeOf(texts).toEqualTypeOf<readonly string[]>();
    return texts.map((text) => ({ label: text.length > 3 ? 'long' : 'short', score: 0.5 }));
  },
});
const lengthOf = defineDeployment({
  name: 'length',
  checkInput: (input) => String(input),
  handler: (texts) => Promise.resolve(texts.map(({ length }) => length)),
});
const own = [sentiment, lengthOf] as const;

type Own = TabserveClient<DeploymentTypes<typeof own>>;

// The compiler checks these; nothing calls them.

async function checkHandles(serve: Own): Promise<void> {
  const handle = serve.getHandle('sentiment');
  expectTypeOf<Parameters<typeof handle.remote>[0]>().toEqualTypeOf<string>();
  expectTypeOf(await handle.remote('fine')).toEqualTypeOf<{ label: string; score: number }>();
  expectTypeOf(await serve.getHandle('length').remote('fine')).toEqualTypeOf<number>();
  // @ts-expect-error -- a number is no text
  serve.getHandle('sentiment').remote(3);
  expectTypeOf(await serve.getHandle('unlisted').remote(3)).toEqualTypeOf<unknown>();
}

async function checkText(serve: Own): Promise<void> {
  const response = serve.getHandle('text-generator').remote('Once', { maxNewTokens: 3, stop: ['.'] });
  expectTypeOf(await response.result()).toEqualTypeOf<GenerationResult>();
  for await (const { text, tokenIds } of response) {
    expectTypeOf(text).toEqualTypeOf<string>();
    expectTypeOf(tokenIds).toEqualTypeOf<readonly number[]>();
  }
  // @ts-expect-error -- a misspelled option
  serve.getHandle('text-generator').remote('Once', { maxTokens: 3 });
}

async function checkKnobs(serve: Own): Promise<void> {
  expectTypeOf(await serve.configure('text-generator', { policy: 'static' })).toEqualTypeOf<BatchingPolicy>();
  expectTypeOf(await serve.configure('sentiment', { maxBatchSize: 4 })).toEqualTypeOf<BatchKnobs>();
}

describe('types', () => {
  it('of inputs and outputs come from the deployments', () => {
    expectTypeOf<DeploymentTypes<typeof own>>().toEqualTypeOf<{
      readonly sentiment: { readonly input: string; readonly output: { label: string; score: number } };
      readonly length: { readonly input: string; readonly output: number };
    }>();
    expectTypeOf<DeploymentTypes<typeof deployments>>().toEqualTypeOf<{
      readonly adder: { readonly input: number; readonly output: number };
      readonly 'house-price': { readonly input: readonly number[]; readonly output: number };
    }>();
  });

  it('of a handle’s input and answer come from its name', () => {
    expectTypeOf(checkHandles).returns.resolves.toBeVoid();
  });

  it('of the text generator’s options, chunks and result need no annotation', () => {
    expectTypeOf(checkText).returns.resolves.toBeVoid();
  });

  it('of knobs come from the deployment’s name', () => {
    expectTypeOf(checkKnobs).returns.resolves.toBeVoid();
  });

  it('of connect’s result come from the list that it names', () => {
    expectTypeOf<typeof connect<typeof own>>().returns.resolves.toEqualTypeOf<Own>();
    // @ts-expect-error -- the app owns its worker
    expectTypeOf<Parameters<typeof connect>[0]>({ name: 'shop' });
  });
});
