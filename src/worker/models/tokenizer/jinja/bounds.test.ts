import { describe, expect, it } from 'vitest';

import { Template } from './template.ts';

const TIMES = '{% for i in range(60) %}';
const long = 'a'.repeat(10_000);
const render = (source: string) => new Template(source).render({ long });

describe('a template', () => {
  it.each([
    ['loops in loops', `${'{% for i in range(1000) %}'.repeat(4)}x${'{% endfor %}'.repeat(4)}`],
    ['loops with nothing in them', `${'{% for i in range(99) %}'.repeat(6)}${'{% endfor %}'.repeat(6)}`],
    [
      'a loop that skips everything',
      '{% for i in range(99999) %}{% for i in range(99999) if false %}{% endfor %}{% endfor %}',
    ],
    [
      'a macro that calls itself twice',
      '{% macro m(n) %}{% if n %}{{ m(n - 1) }}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(40) }}',
    ],
    [
      'values that are compared again and again',
      `{% set n = namespace(a=[1], b=[1]) %}${TIMES}{% set n.a = [n.a, n.a] %}{% set n.b = [n.b, n.b] %}{% endfor %}{{ n.a == n.b }}`,
    ],
  ])('of %s is stopped after 300,000 steps', (_, source) => {
    expect(() => render(source)).toThrow(new RangeError('it takes more than 300,000 steps'));
  });

  it.each([
    ['a list without end', '{% for i in [0] * 10 ** 9 %}{% endfor %}'],
    ['a number without end', '{{ 12345 ** (10 ** 9) }}'],
    ['a text that is repeated', "{{ 'ab' * 10 ** 9 }}"],
    ['a wide format', "{{ '%999999999d' % 1 }}"],
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
    ['namespaces in each other', '{% set n = namespace() %}{% set n.a = n %}{{ n }}'],
    ['a text that is replaced by longer ones', "{{ long | replace('a', long) }}"],
    ['a list that is joined by a long text', '{% set s = range(1000) | join(long) %}'],
    ['lines with wide indents', "{{ ('a\n' ~ long) | indent(10 ** 8, true) }}"],
    ['an output of many texts', '{% for i in range(1000) %}{{ long }}{% endfor %}'],
    ['searches for long texts', "{% for i in range(1000) %}{{ (long * 20).find(long ~ 'b') }}{% endfor %}"],
    ['a macro that calls itself without end', '{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}'],
  ])('of %s is stopped within half a second', (_, source) => {
    const start = performance.now();
    expect(() => render(source)).toThrow(RangeError);
    // The bound of time is generous: machines of tests are busy.
    expect(performance.now() - start).toBeLessThan(3000);
  });

  it.each(['trim', 'length', 'title', 'e', 'tojson', "replace('a', 'b')"])(
    'of a long text that is read again and again by %s is stopped',
    (filter) => {
      expect(() => render(`{% for i in range(9999) %}{{ long | ${filter} }}{% endfor %}`)).toThrow(
        new RangeError('it makes values of more than 4,194,304 characters'),
      );
    },
  );

  it.each(["split('a')", 'strip()', "startswith('b')", 'upper()'])(
    'of a long text that is read again and again by .%s is stopped',
    (method) => {
      expect(() =>
        render(`{% for i in range(9999) %}{% if long.${method} %}{% endif %}{% endfor %}`),
      ).toThrow(new RangeError('it makes values of more than 4,194,304 characters'));
    },
  );

  const text = 'a'.repeat(262_000);
  const emoji = '👍'.repeat(131_000);
  it.each([
    'text.strip()',
    'emoji[0]',
    'emoji[1:2]',
    'emoji | length',
    'marked | length',
    "marked | e == ''",
    'text < same',
    'text == same',
    'text in {}',
    '{text: 1}',
    "'a'.strip(emoji)",
    "'a' | trim(emoji)",
    "'a'.replace('b', emoji)",
    "'%.1s' % emoji",
    "'{:.1}'.format(emoji)",
    "'%%' * 9000 % ()",
    '(text is lower)',
    'range(99999)[::2]',
    'range(99999) == range(99999)',
    '[0, 1][::-1] == (list[:])',
    'list[1:]',
    'list | last',
    'text | reverse',
    "text.split('b')",
    'digits | int',
    'bits | int(0, 2)',
    'text | upper',
    'text ~ 1',
    'text | wordcount',
    'text | urlencode',
    'text | truncate(9)',
    'text | center(9)',
    'text | indent',
    'text | float',
  ])('takes no more than some tenths of a second for thousands of {{ %s }}', (expression) => {
    const template = new Template(
      `{% set marked = emoji | safe %}{% for i in range(50000) %}{% set x = ${expression} %}{% endfor %}`,
    );
    const list = Array.from({ length: 10_000 }, (_, i) => i);
    const variables = {
      text,
      same: `${text.slice(1)}a`,
      emoji,
      list,
      digits: '9'.repeat(262_000),
      bits: '1'.repeat(262_000),
    };
    const start = performance.now();
    expect(() => template.render(variables)).toThrow(RangeError);
    // The bound of time is generous: machines of tests are busy.
    expect(performance.now() - start).toBeLessThan(3000);
  });

  it('of too many characters is not read', () => {
    expect(() => new Template('{{ a }}'.repeat(100_000))).toThrow(RangeError);
  });

  it.each(['(', '[', 'not ', '-'])('of %s in each other is not read', (open) => {
    expect(() => new Template(`{{ ${open.repeat(10_000)}`)).toThrow(SyntaxError);
  });

  it('has as many steps for each rendering', () => {
    const template = new Template('{% for i in range(40000) %}{{ i }}{% endfor %}');
    expect(new Set(Array.from({ length: 4 }, () => template.render({}).length)).size).toBe(1);
  });

  it('may have messages of the longest prompt, many times over', () => {
    const messages = Array.from({ length: 100 }, () => ({ role: 'user', content: 'a'.repeat(1300) }));
    const template = new Template(
      '{% for message in messages %}{{ message.role ~ message.content | trim }}{% endfor %}',
    );
    expect(template.render({ messages })).toHaveLength(100 * 1304);
  });
});
