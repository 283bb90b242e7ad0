import { describe, expect, it } from 'vitest';

import { BoundedTemplate } from './bounded-template.ts';

/** Renders while a millisecond passes with each statement and expression. */
function createTemplate(source: string) {
  let numSteps = 0;
  const template = new BoundedTemplate(source, () => numSteps++);
  return { template, numSteps: () => numSteps };
}

const TIMES = '{% for i in range(60) %}';

describe('a template', () => {
  it.each([
    ['loops in loops', `${'{% for i in range(1000) %}'.repeat(4)}x${'{% endfor %}'.repeat(4)}`],
    ['loops with nothing in them', `${'{% for i in range(99) %}'.repeat(6)}${'{% endfor %}'.repeat(6)}`],
    ['a loop that skips everything', '{% for i in range(100000) if false %}{% endfor %}'],
    [
      'a macro that calls itself twice',
      '{% macro m(n) %}{% if n %}{{ m(n - 1) }}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(40) }}',
    ],
  ])('of %s ends after five seconds', (_, source) => {
    const { template, numSteps } = createTemplate(source);
    expect(() => template.render({})).toThrow(new RangeError('it takes longer than 5 s'));
    expect(numSteps()).toBe(5002);
  });

  it.each([
    ['a range without end', '{% for i in range(10 ** 9) %}{% endfor %}'],
    ['a range of tiny steps', '{{ range(0, 1, 1 / 10 ** 12) }}'],
    ['a text that doubles', `{% set n = namespace(s='ab') %}${TIMES}{% set n.s = n.s ~ n.s %}{% endfor %}`],
    ['a list that doubles', `{% set n = namespace(s=[1]) %}${TIMES}{% set n.s = n.s + n.s %}{% endfor %}`],
    [
      'lists in each other',
      `{% set n = namespace(s=[]) %}${TIMES}{% set n.s = [n.s, n.s] %}{% endfor %}{{ n.s | tojson }}`,
    ],
    [
      'mappings in each other',
      `{% set n = namespace(s={}) %}${TIMES}{% set n.s = {'a': n.s, 'b': n.s} %}{% endfor %}{{ n.s }}`,
    ],
    ['namespaces in each other', '{% set n = namespace() %}{% set n.a = n %}{{ n | tojson }}'],
    ['a list of namespaces', '{% set n = namespace() %}{{ [n] | tojson }}'],
    ['a text that is replaced by longer ones', "{{ long | replace('a', long) }}"],
    ['a list that is joined by a long text', '{{ range(1000) | join(long) }}'],
    ['lines with wide indents', "{{ ('a\n' ~ long) | indent(10 ** 8, true) }}"],
    ['an output of many texts', '{% for i in range(1000) %}{{ long }}{% endfor %}'],
  ])('of %s is stopped before it fills the memory', (_, source) => {
    const { template, numSteps } = createTemplate(source);
    expect(() => template.render({ long: 'a'.repeat(10_000) })).toThrow(
      expect.objectContaining({ name: 'RangeError', message: expect.stringContaining('262,144 characters') }),
    );
    expect(numSteps()).toBeLessThan(5000);
  });

  it('that calls itself without end is stopped', () => {
    const { template } = createTemplate('{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}');
    expect(() => template.render({})).toThrow(new RangeError('a macro of it calls itself without end'));
  });

  it('may go on with its loop a thousand times', () => {
    const odd = '{% for i in range(4000) %}{% if i % 2 %}{% continue %}{% endif %}i{% endfor %}';
    expect(new BoundedTemplate(odd, () => 0).render({})).toHaveLength(2000);
  });

  it('of too many characters is not read', () => {
    expect(() => createTemplate('{{ a }}'.repeat(100_000))).toThrow(RangeError);
  });

  it('has as much time for each rendering', () => {
    const { template } = createTemplate('{% for i in range(1000) %}{{ i }}{% endfor %}');
    const rendered = Array.from({ length: 10 }, () => template.render({}));
    expect(new Set(rendered).size).toBe(1);
  });

  it.each([
    ['range(3)', '[0, 1, 2]'],
    ['range(1, 4)', '[1, 2, 3]'],
    ['range(4, 0, -2)', '[4, 2]'],
    ['range(3, 1)', '[]'],
    ['range(-2)', '[]'],
    ['range(10 ** 16, 10 ** 16 + 4, 2) | length', '2'],
  ])('has Python’s %s', (expression, text) => {
    expect(createTemplate(`{{ ${expression} }}`).template.render({})).toBe(text);
  });

  it('may have messages of the longest prompt, many times over', () => {
    const messages = Array.from({ length: 100 }, () => ({ role: 'user', content: 'a'.repeat(1300) }));
    const { template } = createTemplate(
      '{% for message in messages %}{{ message.role ~ message.content | trim }}{% endfor %}',
    );
    expect(template.render({ messages })).toHaveLength(100 * 1304);
  });
});
