"""Templates of one feature each. A template is its own name."""

CONTEXT = {
    "t": True,
    "n": None,
    "items": ["b", "a", "c"],
    "numbers": [3, 1, 2],
    "spelled": {"whole": 2.0, "big": 1413617112501850121, "small": 1e-7, "list": [1.0, 1]},
    "mapping": {"z": 1, "a": "x", "10": None, "9": [True]},
    "text": "Hello, World",
    "wide": "añ👩‍👩‍👧 日本 ß",
    "quotes": ["it's", 'say "hi"', "both ' and \"", "new\nline", "tab\t", "back\\slash", "\u00a0\u200b\ud7ff", "👍"],
    "big": 9007199254740992,
    "half": 0.5,
    "users": [
        {"name": "Bo", "age": 30, "role": "user", "tags": ["x", "y"]},
        {"name": "al", "age": 25, "role": "system", "tags": []},
        {"name": "Cy", "age": 30, "role": "user"},
    ],
    "schema": {"type": "object", "properties": {"z": {"type": "string"}, "10": {}, "9": {"enum": [1, 2.5, None]}}, "items": "own"},
    "tree": [{"v": 1, "c": [{"v": 2, "c": []}, {"v": 3, "c": [{"v": 4, "c": []}]}]}],
    "html": "<b>R&D</b> 'x' \"y\"",
    "messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yo"}],
}

LINES = r"""
{{ true }} {{ True }} {{ false }} {{ none }} {{ None }} {{ t }} {{ n }}
{{ items }} {{ mapping }} {{ quotes }}
{{ spelled }} {{ spelled.whole + 1 }} {{ spelled.big + 1 }} {{ spelled | tojson }}
{{ (1,) }} {{ (1, 2) }} {{ () }} {{ [] }} {{ {} }} {{ [(1, 'a'), [none]] }}
{{ 2.0 }} {{ 1e16 }} {{ 1e15 }} {{ 0.1 }} {{ 1e-5 }} {{ 0.0001 }} {{ 123456789.123 }} {{ 1.5e300 }} {{ -0.0 }} {{ 1e100 }}
{{ big }} {{ big + 1 }} {{ 2 ** 64 }} {{ 12345678901234567890 * 10 }} {{ half }}
{{ 0x1F }} {{ 0b101 }} {{ 0o17 }} {{ 1_000 }} {{ 1_0.5 }} {{ 1e3 }}
{{ true | string }}|{{ none | string }}|{{ items | string }}|{{ mapping | string }}|{{ 2.0 | string }}
{{ 'a' ~ true ~ none ~ 1 ~ 2.0 ~ items ~ missing ~ 'b' }}
{{ 'a' ~ missing }}|{{ missing }}|{{ [missing] }}
{{ missing.x is defined }}
{{ missing is none }} {{ missing is defined }} {{ none is none }} {{ none is defined }} {{ missing == none }} {{ missing == other }}
{{ '--xax--'.strip('-') }} {{ 'xxaxx'.lstrip('x') }} {{ 'xxaxx'.rstrip('x') }} {{ 'abcba'.strip('ab') }} {{ '  a '.strip() ~ '|' }}
{{ '\x85\u3000a\ufeff\x1c'.strip() | length }} {{ '\ufeffa'.strip() | length }}
{{ 'hello wORLD-foo bar_baz' | title }}|{{ "it's 3rd (x) {y} <z>" | title }}|{{ "it's 3rd".title() }}
{{ 'hELLO wORLD' | capitalize }}|{{ 'ßa'.capitalize() }}|{{ 'ǆa'.title() }}|{{ 'ﬁn'.title() }}|{{ 'ᾳ ᾼ ᾲ ᾷ ŉa ა ΐ'.title() }}|{{ 'ǅ ᾈ'.swapcase() }}|{{ 'ʼnΑΣ ΑΣ.'.title() }}
{{ ['a', 'A', 'b', 1, 1.0, true, none, none] | unique | list }}
{{ ['a', 'A', 'b'] | unique(true) | list }}|{{ users | unique(attribute='age') | map(attribute='name') | list }}
{{ {'10': 1, '9': 2, 'a': 3, '1': 4} }} {{ {1: 'a', 1.0: 'b', true: 'c'} }} {{ {(1, 2): 3}[(1, 2)] }}
{{ mapping | tojson }}|{{ schema | tojson }}|{{ schema | tojson(indent=2) }}
{{ 2.0 | tojson }} {{ 1e22 | tojson }} {{ 0.5 | tojson }} {{ none | tojson }} {{ true | tojson }} {{ big | tojson }}
{{ html | tojson }} {{ wide | tojson }} {{ quotes | tojson }} {{ '\x01\x7f\u2028' | tojson }}
{{ wide | tojson(ensure_ascii=true) }} {{ items | tojson(separators=(',', ':')) }} {{ mapping | tojson(separators=(',', ':')) }}
{{ mapping | tojson(sort_keys=true) }}|{{ mapping | tojson(indent=4, sort_keys=true) }}|{{ [[], {}, [1, [2]]] | tojson(indent=1) }}
{{ {1: 2, none: 3, true: 4, 2.5: 5} | tojson }} {{ (1, 'a') | tojson }}
{{ missing | tojson }}
{{ items | map('upper') | tojson }}
{{ '-' * 3 }} {{ 3 * 'ab' }} {{ [1] * 3 }} {{ (1,) * 2 }} {{ 'a' * -1 }}|
{{ '%s is %d' % ('a', 3) }} {{ '%5.2f|%-5s|%05d|%x|%X|%o|%e|%g|%%|%r|%c' % (3.14159, 'ab', 42, 255, 255, 8, 12345.678, 0.0001, 'q', 'z') }}
{{ '%(a)s %(z)03d' % mapping }} {{ '%s' % items }} {{ '%+d % d' % (1, 2) }} {{ '%.3s' % 'abcdef' }} {{ '%*d' % (5, 3) }}
{{ '%s %s' % 'a' }}
{{ '%s' % (1, 2) }}
{{ '%d' % 'a' }}
{{ '{} {} {0}'.format(1, 2) }}
{{ '{} {}'.format('a', 1.5) }}|{{ '{1}{0}{x}'.format(1, 2, x='y') }}|{{ '{0.name}{0[age]}'.format(users[0]) }}|{{ '{!r} {!s}'.format('a', 'b') }}|{{ '{{}}'.format() }}
{{ '{:>5}|{:<5}|{:^5}|{:*^7}|{:05d}|{:+}|{:,}|{:.2f}|{:x}|{:#x}|{:b}|{:%}|{:e}|{:g}'.format('a', 'b', 'c', 'd', 42, 3, 1234567, 2.675, 255, 255, 5, 0.25, 1234.5, 1e10) }}
{{ '{:.2f}'.format(0.125) }} {{ '%.0f' % 2.5 }} {{ '%.1f' % 0.25 }} {{ '{:.3}'.format(1234.5) }} {{ '{:10.3f}|'.format(3.14159) }} {{ '{:>10}'.format(2.0) }}
{{ 'Hello %s' | format('you') }} {{ '%(x)s' | format(x=1) }}
{{ 'a b c d'.rsplit(' ', 2) }} {{ 'a,b,,c'.split(',') }} {{ ' a  b '.split() }} {{ ' a  b c '.split(none, 1) }} {{ 'a--b--c'.split('--', 1) }} {{ ' a b c '.rsplit(none, 1) }}
{{ 'a\nb\r\nc\x0bd\u2028e\n'.splitlines() }} {{ 'a\nb'.splitlines(true) }} {{ ''.splitlines() }}
{{ 'hello'.find('l') }} {{ 'hello'.rfind('l') }} {{ 'hello'.find('x') }} {{ 'hello'.index('e') }} {{ wide.find('日') }} {{ 'hello'.find('l', 3) }} {{ 'hello'.count('l') }} {{ 'aaa'.count('aa') }} {{ 'abc'.count('') }}
{{ 'hello'.index('x') }}
{{ ', '.join(items) }} {{ ''.join(['a']) }} {{ '-'.join('abc') }} {{ ', '.join(mapping) }}
{{ ', '.join(numbers) }}
{{ 'prefix-a'.removeprefix('prefix-') }} {{ 'a.txt'.removesuffix('.txt') }} {{ 'abc'.removeprefix('x') }} {{ 'abc'.removesuffix('') }}
{{ 'xxaxx' | trim('x') }} {{ '  a  ' | trim }}| {{ ' a ' | trim | length }}
{{ items | map('upper') | list }} {{ users | map(attribute='name') | join(', ') }} {{ users | map(attribute='tags.0', default='-') | list }} {{ items | map('replace', 'a', 'z') | list }} {{ users | map(attribute='x') | list }}
{{ [0, 1, '', 'a', none, missing] | select | list }} {{ numbers | select('odd') | list }} {{ numbers | select('gt', 1) | list }} {{ numbers | reject('==', 2) | list }} {{ [1, 'a', none] | select('string') | list }}
{{ users | selectattr('role', '==', 'user') | map(attribute='name') | list }} {{ users | selectattr('tags') | list | length }} {{ users | rejectattr('role', 'in', ['system']) | list | length }} {{ users | selectattr('tags', 'defined') | list | length }} {{ users | selectattr('tags', 'undefined') | list | length }}
{{ messages | selectattr('role', 'equalto', 'system') | list }} {{ (messages | selectattr('role', 'equalto', 'user') | first).content }} {{ messages | rejectattr('role', 'equalto', 'user') | map(attribute='content') | first }}
{{ numbers | min }} {{ numbers | max }} {{ numbers | sum }} {{ 'bac' | min }} {{ 'bac' | max }} {{ ['B', 'a'] | min }} {{ ['B', 'a'] | min(case_sensitive=true) }} {{ users | max(attribute='age') }} {{ [] | min }}| {{ users | sum(attribute='age') }} {{ [1.5, 2] | sum }} {{ [[1], [2]] | sum(start=[]) }}
{{ 'abc' | first }} {{ 'abc' | last }} {{ items | first }} {{ items | last }} {{ [] | first }}| {{ [] | last }}| {{ mapping | first }} {{ wide | last }} {{ 'añ👍' | last }} {{ [none] | last }}
{{ users | groupby('age') }}
{% for age, us in users | groupby('age') %}{{ age }}: {{ us | map(attribute='name') | join(',') }};{% endfor %}{% for g in users | groupby('role') %}{{ g.grouper }}{{ g.list | length }}{% endfor %}
{{ mapping | dictsort(true) }} {{ {'b': 2, 'A': 1} | dictsort }} {{ {'b': 1, 'A': 2} | dictsort(false, 'value', true) }}
{{ numbers | sort }} {{ items | sort(reverse=true) }} {{ ['b', 'A', 'a', 'B'] | sort }} {{ ['b', 'A', 'a', 'B'] | sort(case_sensitive=true) }} {{ users | sort(attribute='age') | map(attribute='name') | list }} {{ users | sort(attribute='age,name', reverse=true) | map(attribute='name') | list }}
{{ [1, 'a'] | sort }}
{{ [1, none] | max }}
{{ range(7) | batch(3) | list }} {{ range(7) | batch(3, 'x') | list }} {{ range(7) | slice(3) | list }} {{ range(7) | slice(3, 'x') | list }}
{{ html | e }} {{ html | escape }} {{ html | safe }} {{ html | e | e }} {{ html | forceescape }} {{ ('<a>' | e) ~ '<b>' }} {{ (html | e) is escaped }} {{ html is escaped }}
{{ ('<a>' | safe) + '<b>' }} {{ '<b>' + ('<a>' | safe) }} {{ ('<a>' | safe).upper() }} {{ ('%s' | safe) % '<' }} {{ ('<a>' | safe) | upper }} {{ ('<a>' | safe) | length }} {{ mapping | tojson | safe }} {{ ('a' | safe) == 'a' }} {{ ('a' | safe) is string }}
{{ missing | d('x') }} {{ missing | default('x') }} {{ '' | d('x', true) }} {{ none | d('x') }} {{ none | default('x', boolean=true) }} {{ 0 | d('x') }} {{ missing | d }}|
{% for i in items %}{{ loop.index }}{{ loop.index0 }}{{ loop.revindex }}{{ loop.revindex0 }}{{ loop.first }}{{ loop.last }}{{ loop.length }}{{ loop.depth }}{{ loop.depth0 }}{{ loop.cycle('odd', 'even') }}[{{ loop.previtem }}|{{ loop.nextitem }}]{{ loop.changed(i) }};{% endfor %}
{% for i in [1, 1, 2] %}{{ loop.changed(i) }}{% endfor %}{% for i in items if i != 'a' %}{{ loop.index }}/{{ loop.length }}{{ loop.last }}{{ i }};{% else %}none{% endfor %}
{% for i in [] %}x{% else %}empty{% endfor %}{% for i in missing %}x{% else %}undefined{% endfor %}{% for c in 'añ👍' %}{{ c }}.{% endfor %}{% for k in mapping %}{{ k }},{% endfor %}{% for k, v in mapping.items() %}{{ k }}={{ v }};{% endfor %}
{% for a, (b, c) in [(1, (2, 3)), [4, [5, 6]]] %}{{ a }}{{ b }}{{ c }};{% endfor %}{% for i in range(3) recursive %}{{ i }}{% endfor %}
{% for n in tree recursive %}{{ n.v }}@{{ loop.depth }}{% if n.c %}({{ loop(n.c) }}){% endif %}{% if not loop.last %},{% endif %}{% endfor %}
{% for i in none %}x{% endfor %}
{% for i in 3 %}x{% endfor %}
{% for a, b in [(1,)] %}x{% endfor %}
{% for i in range(10) %}{% if i == 2 %}{% continue %}{% endif %}{% if i == 5 %}{% break %}{% endif %}{{ i }}{% endfor %}
{% for i in [1] %}{% continue %}{% else %}else{% endfor %}{% for i in [1] %}{% break %}{% else %}else{% endfor %}{% for i in [1, 2] %}{% if i == 2 %}{% break %}{% endif %}{% else %}else{% endfor %}
{% raw %}{{ x }} {% if %}{% endraw %}|{%- raw -%} {{ y }} {%- endraw -%} |
{% with a = 1, b = 2 %}{{ a + b }}{% endwith %}{{ a }}{% set a = 5 %}{% with a = 1, b = a %}{{ b }}{% endwith %}{% with %}{% set a = 9 %}{% endwith %}{{ a }}
  {%+ if true %}x{% endif %}|   {% if true +%}
{{ 1 < 2 < 3 }} {{ 1 < 3 < 2 }} {{ 1 == 1.0 == true }} {{ 'a' < 'b' <= 'b' }} {{ 3 > 2 >= 2 != 1 }} {{ 1 in [1] == true }}
{{ 'el' in 'hello' }} {{ 'x' not in 'hello' }} {{ 'a' in items }} {{ 'z' in mapping }} {{ 1 in range(3) }} {{ 'x' in missing }} {{ 1.0 in [1] }} {{ none in [none] }} {{ (1, 2) in [(1, 2)] }} {{ [1] == [1.0] }} {{ (1,) == [1] }}
{{ 1 in 'a' }}
{{ 1 in 5 }}
{{ dict(a=1, b='x') }} {{ dict({'a': 1}, b=2) }} {{ dict([('k', 'v')]) }} {{ dict.fromkeys(['a', 'b'], 0) }} {{ dict() }}
{% set j = joiner(' | ') %}{{ j() }}a{{ j() }}b{{ j() }}c{% set k = joiner() %}{{ k() }}{{ k() }}
{% set c = cycler('x', 'y') %}{{ c.next() }}{{ c.next() }}{{ c.next() }}{{ c.current }}{% set _ = c.reset() %}{{ c.current }}
{% set ns = namespace(a=1, b=[]) %}{% for i in numbers %}{% set ns.a = ns.a + i %}{% set ns.b = ns.b + [i] %}{% endfor %}{{ ns.a }} {{ ns.b }} {{ ns['a'] }} {{ ns.x is defined }} {{ ns }}
{% set x = 1 %}{% for i in [1, 2] %}{{ x }}{% set x = i + 10 %}{{ x }}{% endfor %}{{ x }}{% if true %}{% set x = 99 %}{% endif %}{{ x }}
{% set ns = namespace({'k': 'v'}, w=1) %}{{ ns.k }}{{ ns.w }}
{% set x.y = 1 %}
{% set ns = namespace(_a=1) %}
{{ range(5) }} {{ range(1, 5) | list }} {{ range(5, 0, -2) | list }} {{ range(3)[1] }} {{ range(3) | length }} {{ range(0) | list }} {{ 2 in range(3) }} {{ range(3) | last }} {{ range(4) | reverse | list }} {{ range(2, 8, 3) }}
{{ 7 / 2 }} {{ 6 / 2 }} {{ 7 // 2 }} {{ -7 // 2 }} {{ 7 // -2 }} {{ -7 % 3 }} {{ 7 % -3 }} {{ 7.5 // 2 }} {{ -7.5 % 2 }} {{ 2 ** 10 }} {{ 2 ** -1 }} {{ 2 ** 0.5 }} {{ 10 % 3.5 }} {{ true + true }} {{ 1 + 2.0 }} {{ 0.1 + 0.2 }} {{ 5 - 7 }} {{ -3 ** 2 }} {{ 2 ** 3 ** 2 }}
{{ 1 / 0 }}
{{ 1 + 'a' }}
{{ 'a' + 1 }}
{{ 'a' + none }}
{{ {'a': none}.a }} {{ {'a': none}['a'] is none }} {{ {'a': none}.a is defined }} {{ {'a': none}.get('a', 'x') }} {{ {'a': none} | attr('a') }} {{ mapping['10'] }} {{ schema.properties['9'].enum[2] }}
{% set ns = namespace(a=none) %}{{ ns.a }} {{ ns['a'] }} {{ ns | attr('a') }} {{ [{'a': none}] | map(attribute='a', default='x') | list }} {{ [none] | first }} {{ [none] | min }} {{ (none, 1)[0] }}
{% macro m(a, b='d', c=none) %}{{ a }} {{ b }} {{ c }} {{ a is defined }};{% endmacro %}{{ m(none, none) }}{{ m(b=none) }}{{ m(none, c=1) }}
{% for i in [none, 1, none] %}{{ loop.previtem }} {{ loop.previtem is defined }} {{ loop.nextitem }} {{ loop.nextitem is defined }};{% endfor %}
{% for i in [none, none] %}{{ loop.cycle(none, 'a') }} {{ loop.last }} {{ i }};{% endfor %}{% for a, b in [[none, 1]] %}{{ a }}{{ b }}{% endfor %}{% for k, v in {'a': none}.items() %}{{ k }}{{ v }}{% endfor %}
{{ [{'a': none}, {'a': 1}] | selectattr('a') | list }} {{ [{'a': none}] | selectattr('a', 'none') | list }} {{ [{'a': none}] | rejectattr('a', 'defined') | list }} {{ [{'a': none}] | groupby('a', default='x') }} {{ dict(a=none).pop('a', 1) }} {{ {'a': none}.setdefault('a', 1) }}
{% set x = none %}{{ x }} {{ x | default('d') }} {{ x or 'o' }} {{ none if t }} {{ (none if t) is none }} {% call(a) m2() %}{% endcall %}
{% macro outer() %}{{ caller(none) }}{% endmacro %}{% call(a='d') outer() %}{{ a }} {{ a is none }}{% endcall %}
{{ missing + 'a' }}
{{ missing.x.y }}
{{ missing() }}
{{ none.x }}|{{ none['x'] }}|{{ 5.x }}
{{ (5).x }}|{{ items.x }}|{{ mapping.nope }}|{{ mapping['nope'] is defined }}|{{ items[99] }}|{{ items[-1] }}|{{ items[-9] is defined }}|{{ 'abc'[5] is defined }}
{{ none + 1 }}
{{ wide | length }} {{ wide[2] }} {{ wide[-1] }} {{ wide[:3] }} {{ wide[::-1] }} {{ wide | reverse }} {{ 'añ👍b'[2:] }} {{ 'añ👍b' | list }}
{{ 'hello'[1:3] }} {{ 'hello'[:-1] }} {{ 'hello'[-3:] }} {{ 'hello'[::2] }} {{ 'hello'[::-1] }} {{ 'hello'[10:] }}| {{ 'hello'[3:1] }}| {{ 'hello'[-100:2] }} {{ 'hello'[4:1:-1] }} {{ 'hello'[:] }} {{ 'hello'[none:2] }}
{{ items[1:] }} {{ items[::-1] }} {{ items[:2] }} {{ (1, 2, 3)[1:] }} {{ numbers[0:10:2] }} {{ items[5:] }} {{ messages[1:] }} {{ messages[:-1] | length }}
{{ 'ǆß ŉ'.upper() }} {{ 'İ'.lower() | length }} {{ 'ΑΣ'.lower() }} {{ 'ΑΣ' | lower }} {{ 'straße'.upper() }} {{ 'aBc'.swapcase() }}
{{ 'abc'.startswith('a') }} {{ 'abc'.startswith(('x', 'ab')) }} {{ 'abc'.endswith(('c', 'd')) }} {{ 'abc'.startswith('b', 1) }} {{ 'abc'.endswith('x') }} {{ 'abc'.startswith('') }}
{{ 'aXbXc'.replace('X', '-') }} {{ 'aXbXc'.replace('X', '-', 1) }} {{ 'abc'.replace('', '.') }} {{ 'abc'.replace('', '.', 2) }} {{ 'aXbXc' | replace('X', '-') }} {{ 'aXbXc' | replace('X', '-', 1) }} {{ 'a$&b' | replace('a', '$&') }} {{ 101 | replace('0', 'o') }}
{{ '12'.isdigit() }} {{ '²'.isdigit() }} {{ '½'.isnumeric() }} {{ '٣'.isdecimal() }} {{ 'a1'.isalnum() }} {{ 'añ'.isalpha() }} {{ ''.isdigit() }} {{ ' \u3000'.isspace() }} {{ 'aB'.islower() }} {{ 'ab1'.islower() }} {{ 'AB1'.isupper() }} {{ '1'.isupper() }} {{ '三'.isnumeric() }} {{ '京'.isnumeric() }} {{ '①'.isdigit() }} {{ 'ǅ'.isupper() }}
{{ '42'.zfill(5) }} {{ '-42'.zfill(5) }} {{ 'ab'.center(7, '*') }} {{ 'abc'.center(6, '*') }} {{ 'ab' | center(5) }}| {{ 'ab'.ljust(5, '.') }} {{ 'ab'.rjust(5) }} {{ 'a\tb'.expandtabs(4) }}
{{ 'a=b=c'.partition('=') }} {{ 'a=b=c'.rpartition('=') }} {{ 'abc'.partition('x') }} {{ 'abc'.rpartition('x') }}
{{ mapping.items() }} {{ mapping.keys() }} {{ mapping.values() }} {{ mapping.keys() | list }} {{ mapping.get('a') }} {{ mapping.get('q') }} {{ mapping.get('q', 5) }} {{ mapping.items() | list }} {{ mapping | items | list }} {{ missing | items | list }} {{ mapping | length }} {{ mapping | list }}
{{ mapping.update({'q': 1}) }}
{{ items.append('d') }}
{{ mapping.pop('a') }}
{{ items.append is defined }} {{ mapping.update is defined }} {{ mapping.__class__ is defined }} {{ ''.__class__ is defined }}
{{ ''.__class__.__mro__ }}
{{ schema['items'] }} {{ schema.type }} {{ schema.properties.z.type }} {{ schema['properties']['9']['enum'][1] }} {{ schema.keys() | first }} {{ schema.get('items') }} {{ schema.properties.keys() | list }} {{ schema.items() | length }} {{ schema.items is callable }} {{ schema['items'] is string }}
{{ items.index('a') }} {{ items.count('a') }} {{ (1, 2, 1).count(1) }}
{{ items.index('q') }}
{{ 1 is number }} {{ true is number }} {{ 1 is integer }} {{ true is integer }} {{ 1.0 is float }} {{ 1 is float }} {{ true is boolean }} {{ 1 is boolean }} {{ 'a' is string }} {{ mapping is mapping }} {{ items is mapping }} {{ items is sequence }} {{ 'a' is sequence }} {{ mapping is sequence }} {{ 1 is sequence }} {{ items is iterable }} {{ 'a' is iterable }} {{ missing is iterable }} {{ none is iterable }}
{{ missing is sequence }} {{ (1,) is sequence }} {{ range(1) is sequence }}
{{ true is true }} {{ 1 is true }} {{ false is false }} {{ 0 is false }} {{ none is true }} {{ 10 is divisibleby 5 }} {{ 10 is divisibleby(3) }} {{ 3 is even }} {{ 3 is odd }} {{ none is sameas none }} {{ true is sameas true }} {{ 1 is sameas true }} {{ 2 is in [1, 2] }} {{ 'a' is in 'abc' }}
{{ 1 is eq 1 }} {{ 1 is ne 2 }} {{ 1 is lt 2 }} {{ 1 is le 1 }} {{ 2 is gt 1 }} {{ 2 is ge 3 }} {{ 1 is equalto 1.0 }} {{ 3 is greaterthan 2 }} {{ 3 is lessthan 2 }} {{ 'ab' is lower }} {{ 'AB' is upper }} {{ 'Ab' is upper }} {{ 'upper' is filter }} {{ 'nope' is filter }} {{ 'odd' is test }} {{ range is callable }} {{ 1 is callable }} {{ 1 is not string }} {{ not 1 is string }}
{{ 3 is not odd and true }} {{ missing is not defined or false }} {{ 1 if missing is defined else 2 }} {{ 'x' if false }}| {{ 'a' if false else 'b' if false else 'c' }} {{ (1 if true else 2) + 1 }}
{{ 1 == true }} {{ 0 == false }} {{ 1 == '1' }} {{ '' == false }} {{ [] == false }} {{ none == false }} {{ 'a' == 'a' }} {{ {'a': 1} == {'a': 1.0} }} {{ 1 != 2 }} {{ not '' }} {{ not [] }} {{ not 0.0 }} {{ not {} }} {{ not 'a' }}
{{ 'a' and 'b' }} {{ '' and 'b' }}| {{ '' or 'b' }} {{ 0 or none }} {{ [] or {} }} {{ not none and 1 }} {{ none or missing or 'z' }}
{{ 'a' < 1 }}
{{ none < 1 }}
{{ {} < {} }}
{{ '\U0001F600' < '\uFFFD' }} {{ ['\U0001F600', '\uFFFD'] | sort }} {{ 'Z' < 'a' }} {{ [1, 2] < [1, 3] }} {{ (1,) < (1, 0) }} {{ true < 2 }}
{% macro m(a, b=2, c='x') %}{{ a }}{{ b }}{{ c }};{% endmacro %}{{ m(1) }}{{ m(1, c=3) }}{{ m(b=5, a=0) }}{{ m() }}{{ m.name }}{{ m.arguments }}
{% macro m() %}{{ varargs }}{{ kwargs }}{% endmacro %}{{ m(1, 2, x=3) }}
{% macro m(a) %}{{ a }}{% endmacro %}{{ m(1, 2) }}
{% macro m(a) %}{{ a }}{% endmacro %}{{ m(b=2) }}
{% macro m() %}[{{ caller() }}]{% endmacro %}{% call m() %}in{{ text }}{% endcall %}{% macro l(xs) %}{% for x in xs %}{{ caller(x) }}{% endfor %}{% endmacro %}{% call(x) l(items) %}<{{ x }}>{% endcall %}
{% macro a(x) %}{% if x > 0 %}{{ x }}{{ a(x - 1) }}{% endif %}{% endmacro %}{{ a(4) }}{% macro o(x) %}{% macro i(y) %}{{ x }}{{ y }}{% endmacro %}{{ i(2) }}{% endmacro %}{{ o(1) }}
{% macro f(x=y) %}{{ x }}{{ z }}{% endmacro %}{% set y = 3 %}{% set z = 4 %}{{ f() }}{% macro g(a, b=a) %}{{ a }}{{ b }}{% endmacro %}{{ g(7) }}
{% macro m() %}{% set inner = 1 %}{{ inner }}{% endmacro %}{{ m() }}{{ inner is defined }}{{ m() | length }}{% set r = m() %}{{ r is string }}{{ m }}
{{ m2 is defined }}{% if false %}{% macro m2() %}{% endmacro %}{% endif %}{{ m2 is defined }}
{% set x %}a{{ 1 }}b{% endset %}{{ x }}{% set y | upper | replace('B', 'z') %}abc{% endset %}{{ y }}{{ y | length }}{% set a, b = 1, 2 %}{{ a }}{{ b }}{% set t = 1, 2 %}{{ t }}
{% set x = 1 %}{% set y %}{% set x = 2 %}{{ x }}{% endset %}{{ y }}{{ x }}
{% filter upper %}abc{{ text }}{% endfilter %}{% filter trim | upper | replace('A', 'z') %} abc {% endfilter %}
{% filter trim | length %}  abc {% endfilter %}
{% generation %}{% set g = 1 %}{{ text }}{% endgeneration %}{{ g is defined }}
{% print 'a' %}{% print 1, 2 %}
{# a comment {{ x }} {% if %} #}a{#- b -#} c
{{ "a" 'b' }} {{ 'it\'s' }} {{ "\x41\u00e9\n|\t|\\|\d|\101" }} {{ 'é日👍' }} {{ 'a\
b' }}
{{ [1, 2,] }} {{ (1, 2,) }} {{ {'a': 1,} }} {{ ((1)) }} {{ (1) is number }} {{ items.0 }} {{ users.1.name }} {{ users[0]['tags'][1] }}
{{ text.upper().lower().split(', ')[0] | title | length }}
{{ -text | length }}
{{ -1 | abs }} {{ (-1.5) | abs }} {{ 3.7 | int }} {{ '42' | int }} {{ '3.9' | int }} {{ 'x' | int }} {{ 'x' | int(7) }} {{ '0x1f' | int(base=16) }} {{ '0b11' | int(0, 2) }} {{ none | int }} {{ ' 12 ' | int }} {{ '1_000' | int }} {{ '٣' | int }} {{ true | int }} {{ -3.7 | int }}
{{ '3.5' | float }} {{ 2 | float }} {{ 'x' | float }} {{ 'x' | float(1.5) }} {{ '1e3' | float }} {{ 'inf' | float }} {{ none | float }}
{{ 2.5 | round }} {{ 3.5 | round }} {{ 2.567 | round(2) }} {{ 2.1 | round(0, 'ceil') }} {{ 2.9 | round(method='floor') }} {{ 42 | round }} {{ 2.675 | round(2) }} {{ -0.5 | round }} {{ 1e20 | round }} {{ 42 | round(1, 'floor') }}
{{ 'a\nb\n\nc' | indent }}|{{ 'a\nb' | indent(2, true) }}|{{ 'a\n\nb' | indent(2, blank=true) }}|{{ 'a\nb' | indent('> ') }}|{{ 'a\n' | indent }}|
{{ 'hello big world out there' | truncate(10) }}|{{ 'hello big world' | truncate(12, true) }}|{{ 'hello big world' | truncate(9, false, '…', 0) }}|{{ 'short' | truncate(3) }}
{{ 'a b/c?d=é&f' | urlencode }} {{ {'a b': 'c/d', 'x': 1} | urlencode }} {{ 'one two, three' | wordcount }}
{{ [3, 1] | join }} {{ items | join('-') }} {{ users | join(', ', attribute='name') }} {{ 'abc' | join('.') }} {{ [1, none, true, 2.0] | join(' ') }} {{ mapping | join(',') }}
{{ items | length }} {{ '' | count }}
{{ 5 | length }}
{{ items | reverse | list }} {{ 'abc' | reverse }} {{ (1, 2) | reverse | list }} {{ items | list }} {{ 'abc' | list }} {{ mapping | reverse | list }}
{{ users[0] | attr('name') is defined }} {{ 'abc' | attr('upper') is defined }} {{ mapping | attr('items') is defined }}
{{ text | lower }} {{ text | upper }} {{ none | upper }} {{ 1.0 | lower }} {{ missing | upper }}|
{{ items | map('nope') | list }}
{{ 'a' | nope }}
{% if false %}{{ 'a' | nope }}{% endif %}ok
{% if true %}{{ 'a' | nope }}{% endif %}ok
{{ 'a' is nope }}
{% nope %}
{% if %}
{{ }}
{{ a b }}
{% for %}{% endfor %}
{{ 'a }}
{% if true %}
{{ raise_exception('no ' ~ 1) }}
{% if items is string %}a{% elif items is mapping %}b{% elif items %}c{% else %}d{% endif %}{% if missing %}x{% endif %}{% if 1, %}tuple{% endif %}
{% for m in messages %}{{ '<|' + m['role'] + '|>\n' + m.content + '<|end|>' }}{% if loop.last and add_generation_prompt %}{{ 'x' }}{% endif %}{% endfor %}
{{ messages | length - 1 }} {{ messages|length > 1 and messages[0]['role'] == 'user' }} {{ (messages | length) * 2 }} {{ messages[-1].role }} {{ messages[messages|length - 1].content }}
{{ [1, 2] + [3] }} {{ (1,) + (2,) }}
{{ [1] + (2,) }}
{% set d = {'a': [1, {'b': "x'y"}]} %}{{ d }}{{ d.a[1].b }}{{ d['a'][1]['b'] }}{{ d.a | string | length }}
{{ users[0] == users[0].copy() }}
{{ [x for x in y] }}
{{ items | select('in', ['a', 'b']) | list }} {{ items | select('ne', 'a') | join }} {{ 'a' in (items | map('lower')) }}
{{ dict(users[0], name='Z').name }} {{ dict(**{'a': 1}) }} {{ '{a}'.format(**mapping) }} {{ range(*[1, 3]) | list }} {{ '{}{}'.format(*items) }}
{{ 'x'.join(['a', 'b']) ~ ''.join([]) }}|{{ 'a,b;c'.replace(',', ' ').replace(';', ' ').split() }}
{{ true.x is defined }}
{{ '<' ~ ('a' | safe) ~ '>' }} {{ ['<', 'a' | safe] | join('&') }}
{{ 'a' * 2 ~ 'b' * 2 }}
{{ 1 ~ 2 + 3 }}
 {{ 1 + 2 ~ 3 }} {{ 2 * 3 ~ 4 }} {{ -2 ~ 3 }} {{ not true ~ 1 }} {{ 'a' in 'abc' and 'b' ~ 'c' }}
{{ text[0] | lower ~ '!' }} {{ text[0] | lower + '!' }} {{ items[0].upper() + items[1] | upper }}
{{ strftime_now('%Y') | length }} {{ strftime_now is defined }} {{ strftime_now('%d %B %Y %H:%M') is string }}
{%- for m in messages -%}  {{ m.role }}  {%- endfor -%}  end
{{ '%s' | format(none) }} {{ '%s' % none }} {{ '%s' % true }} {{ '%s %s' % (1.0, [1]) }} {{ '%r' % "it's" }} {{ '%5s|%-5s|' % ('é', '👍') }}
{{ '{:d}'.format('a') }}
{{ '{:.1%}'.format(0.1234) }} {{ '{:08.3f}'.format(-3.14159) }} {{ '{:_}'.format(1234567) }} {{ '{:,.2f}'.format(1234567.891) }} {{ '{:<8}|'.format(true) }}
{{ '{:g} {:g} {:g} {:g}'.format(0.00001, 123456789.0, 100000.0, 1e6) }} {{ '%g %g' % (1e-5, 0.5) }} {{ '{:.3g}'.format(3.14159) }} {{ '{:e}'.format(0) }} {{ '{:G}'.format(1e-10) }}
{% set loop = 5 %}{{ loop }}{% for i in [1] %}{{ loop.index }}{% endfor %}{{ loop }}
{% for i in items %}{% for j in numbers %}{{ loop.index }}{% endfor %}{{ loop.index }};{% endfor %}{% for i in items %}{% set outer = loop %}{% for j in [1, 2] %}{{ outer.index }}.{{ loop.index }} {% endfor %}{% endfor %}
{% set content = messages[0].content %}{% if content is string %}{{ content }}{% else %}{% for c in content %}{{ c.text }}{% endfor %}{% endif %}
{{ 'tools' in mapping }} {{ mapping.a is string and mapping.z is number }} {{ mapping['10'] is none }} {{ mapping['9'][0] is true }} {{ mapping.get('9') | tojson }}
{{ "a\"b" }} {{ 'a"b' | tojson }} {{ ["a'b"] }} {{ ['a"b'] }} {{ ['\x7f\xad\u2028\u200b\ue000'] }} {{ ['é日👍'] }}
{{ 9007199254740993 | tojson }} {{ 1e400 }} {{ 123456789012345678901234567890 // 7 }} {{ 123456789012345678901234567890 % 1000 }} {{ 7 // 2.0 }} {{ 1e308 * 10 }}
{% for x in '' %}x{% else %}empty{% endfor %}{{ '' | list }}{{ '' | min is defined }}{{ 'x' in ('' | list) }}
{{ ('ab' | safe) | list }} {{ [('a' | safe)] }} {{ numbers | truncate(9) }} {{ (1, 2) | truncate }} {{ range(9)[2:7:2] }} {{ range(9)[::-1] }} {{ 'abc' % missing }} {{ 'abc' % numbers }}
{{ half[1:] }}
{{ mapping[1:] }}
{{ numbers is filter }}
{{ numbers | urlencode }}
{{ (1, 2).copy() }}
{{ '%05c|%+.6x|%-6c|' % ('a', 255, 98) }} {{ '{:.1}'.format(1.0) }} {{ '{:10}|{:010}|'.format('é', 'é') }}
{{ '{:+}'.format('a') }}
{{ '{:,x}'.format(255) }}
{{ 10 ** 20 }} {{ 10.0 ** 20 }} {{ 1.0e5 }} {{ 5e-324 }} {{ 1.7976931348623157e308 }} {{ 0.1 * 3 }} {{ 1 / 3 }} {{ 100 * 1.1 }} {{ 1e21 | int }} {{ 2 ** 53 + 1.0 }}
{{ 'abc'.startswith('',5) }}{{ 'abc'.endswith('',4) }}{{ 'abc'.startswith('',3) }}{{ 'abc'.find('',4) }}{{ 'abc'.count('',4) }}{{ 'abc'.count('',3) }}{{ 'abc'.startswith('',2,1) }}{{ 'abc'.rfind('',2,1) }}{{ 'abc'.startswith('',-9,-8) }}
{{ {'__proto__': 1}.__proto__ }} {{ {'__class__': 1}.__class__ }} {{ {'__class__': 1}['__class__'] }} {{ ''.__foo__ is defined }}
{{ '%s' | safe | format('<b>') }} {{ '%(a)s %(b)d' | safe | format(a='<b>', b=1) }} {{ ('%s' | safe) % '<b>' }} {{ '%s' | safe | format(['<']) }}
{{ -0.0 // 1 }} {{ 0.0 % -1 }} {{ -0.0 % 1 }} {{ 0.0 // -1 }} {{ 5.0 % -5 }} {{ -5.0 % 5 }} {{ -1.0 // 3 }} {{ 1.0 // -3 }} {{ 7.5 // -2 }} {{ 5.0 // 1e308 }} {{ -0.0 // -1 }} {{ 5 % 1e400 }} {{ -5 % 1e400 }} {{ 5 // 1e400 }} {{ -5 // 1e400 }}
{% macro m() %}{% endmacro %}{{ m.caller }}{{ m.catch_kwargs }}{{ m.catch_varargs }}{{ m.defaults }}
{% macro m(a=1) %}{{ caller() }}{{ kwargs }}{{ varargs }}{% endmacro %}{{ m.caller }} {{ m.catch_kwargs }} {{ m.catch_varargs }}
{{ '{0.__class__}'.format('a') }}|{{ '{0[-1]}'.format([1]) }}|{{ '{0[-1]}'.format({'-1': 2}) }}|{{ '{0.y}'.format({'x': 1}) }}|{{ '{0[a]}'.format('a') }}
{{ '{0.y.z}'.format({'x': 1}) }}
"""

# Templates of more than one line, where white space counts.
BLOCKS = (
    "{% if true %}\nyes\n{% endif %}\nafter\n",
    "  {% if true %}  \n  yes\n  {% endif %}\n  after",
    "a\n  {%- if true %}\n  b\n  {%- endif %}\nc",
    "a  \n{%- if true -%}\n  b  \n{%- endif -%}\n  c",
    "{{ 'a' }}\n{{ 'b' }}\n\n{{- 'c' -}}\n\n{{ 'd' }}\n\n",
    "a\n    {# comment #}\nb\n{#- c -#}\nd {# e #} f\n  {#+ g #}\nh",
    "{% for i in numbers %}\n  {{ i }}\n{% endfor %}\nend",
    "{%- for i in numbers -%}\n  {{ i }}\n{%- endfor %}\n\nend\n\n",
    "{% for i in numbers +%}\n  {{ i }}\n{%+ endfor %}\nend",
    "a\r\n{% if true %}\r\nb\r\n{% endif %}\r\nc\r{{ 'x\r\ny' | length }}\r\n",
    "  {%+ if true +%}  \n x {%+ endif +%}  \n",
    "x {% if true %} y {% endif %} z\n\n",
    "{% set a = 1 -%}\n\n  text {{- ' more' }}  {%- set b = 2 %}  end",
    "\t{% if true %}\t\n\tx\n\t{% endif %}\t\nend",
    "{% raw %}\n  {{ a }}\n{% endraw %}\nb",
    "a\n  {% raw -%}  {{ a }}  {%- endraw %}\nb",
    "  {{ 'x' }}\n  {%- set y = 1 %}\n  {{ y }}",
    "line\n\u3000{% if true %}x{% endif %}\n",
    "{%- macro m(x) -%}\n  [{{ x }}]\n{%- endmacro -%}\n{{ m(1) }}\n{{ m(2) }}",
    "{% set x %}\n  a\n  b\n{% endset %}\n{{ x }}",
    "{{-5}} {{- 5}} {{+5}} {{ - 5 }}",
    "{% if messages[0]['role'] == 'user' %}\n    {% set x = 1 %}\n{% else %}\n    {% set x = 2 %}\n{% endif %}\n{{ x }}",
    "",
    "\n",
    "\n\n",
    "plain text\nof two lines\n",
)

TEMPLATES = tuple(line for line in LINES.replace("\\\nb", "\\\x00b").strip("\n").split("\n")) + BLOCKS
TEMPLATES = tuple(template.replace("\\\x00b", "\\\nb") for template in TEMPLATES)
