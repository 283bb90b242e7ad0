/// <reference types="dom-chromium-ai" />
import { expectTypeOf, it } from 'vitest';

import type { LanguageModelClass } from './create-language-model.ts';
import type { LanguageModel as Session } from './language-model.ts';

// Pages know the API by the global types of @types/dom-chromium-ai. The compiler checks these.

it("takes a browser's arguments, and gives what a browser gives", () => {
  expectTypeOf<typeof LanguageModel.availability>().parameters.toExtend<
    Parameters<LanguageModelClass['availability']>
  >();
  expectTypeOf<typeof LanguageModel.create>().parameters.toExtend<Parameters<LanguageModelClass['create']>>();
  expectTypeOf<LanguageModelClass['availability']>().returns.toEqualTypeOf<Promise<Availability>>();
  expectTypeOf<LanguageModel['prompt']>().parameters.toExtend<Parameters<Session['prompt']>>();
  expectTypeOf<LanguageModel['append']>().parameters.toExtend<Parameters<Session['append']>>();
  expectTypeOf<LanguageModel['clone']>().parameters.toExtend<Parameters<Session['clone']>>();
  type Same = 'promptStreaming' | 'prompt' | 'append' | 'measureContextUsage' | 'destroy';
  expectTypeOf<{ [Name in Same]: ReturnType<Session[Name]> }>().toEqualTypeOf<{
    [Name in Same]: ReturnType<LanguageModel[Name]>;
  }>();
  expectTypeOf<Pick<Session, 'contextUsage' | 'contextWindow'>>().toEqualTypeOf<
    Pick<LanguageModel, 'contextUsage' | 'contextWindow'>
  >();
});
