import { describe, expect, it } from 'vitest';

import { InvalidOptionError } from '../base/errors.ts';
import { isToolChoice, schemaOf, toolsIn } from './tools.ts';

const read = toolsIn({ maxItems: 2, maxLength: 200 });
const WEATHER = { name: 'weather', description: 'Tells it', parameters: { properties: { city: {} } } };

function refusal(act: () => unknown): unknown {
  try {
    return act();
  } catch (error) {
    return error instanceof InvalidOptionError ? error.message : error;
  }
}

describe('tools', () => {
  it('stay as they were written, in their order', () => {
    const tools = [
      { strict: true, parameters: WEATHER.parameters, name: 'weather' },
      { description: null, name: 'now', strict: null, parameters: null },
    ];
    expect(JSON.stringify(read('tools', tools))).toBe(JSON.stringify(tools));
  });

  it('have calls whose arguments are an object; without parameters, an empty one', () => {
    expect([WEATHER, { name: 'now' }, { name: 'now', parameters: null }].map(schemaOf)).toEqual([
      { type: 'object', ...WEATHER.parameters },
      { type: 'object', properties: {}, additionalProperties: false },
      { type: 'object', properties: {}, additionalProperties: false },
    ]);
  });

  it.each([
    ['a tool alone', WEATHER, 'tools'],
    ['too many', [{ name: 'a' }, { name: 'b' }, { name: 'c' }], 'tools'],
    ['a name', ['weather'], 'tools[0]'],
    ['one that is too long', [{ name: 'a', description: 'x'.repeat(200) }], 'tools[0]'],
    ['a field that tools lack', [{ name: 'a', paramters: {} }], 'tools[0].paramters'],
    ['no name', [{}], 'tools[0].name'],
    ['a name with a space', [{ name: 'a b' }], 'tools[0].name'],
    ['a description that is no text', [{ name: 'a', description: 1 }], 'tools[0].description'],
    ['parameters that are no schema', [{ name: 'a', parameters: [] }], 'tools[0].parameters'],
    ['strict that is neither true nor false', [{ name: 'a', strict: 1 }], 'tools[0].strict'],
    ['parameters of another type', [{ name: 'a', parameters: { type: 'string' } }], 'tools[0].parameters'],
    ['one name twice', [{ name: 'a' }, { name: 'a' }], 'tools[1].name'],
  ])('refuse %s by its place', (_, tools, place) => {
    expect(refusal(() => read('tools', tools))).toContain(`Expected \`${place}\` to be`);
  });
});

describe('the choice of a tool', () => {
  it.each(['auto', 'none', 'required', { name: 'weather' }])('takes %j', (choice) => {
    expect(isToolChoice('toolChoice', choice)).toEqual(choice);
  });

  it.each(['any', null, [], {}, { name: 1 }, { name: 'a', type: 'function' }])('refuses %j', (choice) => {
    expect(refusal(() => isToolChoice('toolChoice', choice))).toContain('Expected `toolChoice` to be');
  });
});
