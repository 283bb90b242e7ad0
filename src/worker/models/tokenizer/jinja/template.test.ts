import { describe, expect, it } from 'vitest';
import * as v from 'valibot';

import features from '../../../../../tools/reference/fixtures/template-features-reference.json' with { type: 'json' };
import { parseOrderedJson } from '../../../../batching/base/ordered-json.ts';
import { Template } from './template.ts';

const outcome = { text: v.optional(v.string()), error: v.optional(v.string()) };
const cases = v.parse(v.array(v.object({ template: v.string(), ...outcome })), features.cases);

const context = Object.fromEntries(
  Object.entries(features.context).map(([name, json]) => [name, field(json)]),
);

/** A number's spelling belongs to what holds it. */
function field(json: string): unknown {
  const [value] = v.parse(v.tuple([v.unknown()]), parseOrderedJson(`[${json}]`));
  return value;
}

/** Rendered by huggingface/transformers: see tools/reference/chat-templates. */
describe('a template', () => {
  it.each(cases.filter(({ text }) => text !== undefined))('renders $template', ({ template, text }) => {
    expect(new Template(template).render(context)).toBe(text);
  });

  it.each(cases.filter(({ error }) => error !== undefined))('refuses $template', ({ template }) => {
    // Not an error of our own.
    const error: unknown = expect.objectContaining({
      name: expect.stringMatching(/^(TemplateError|SyntaxError)$/),
    });
    expect(() => new Template(template).render(context)).toThrow(error);
  });
});
