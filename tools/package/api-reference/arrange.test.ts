import { describe, expect, it } from 'vitest';

import { arrange } from './arrange.ts';
import { KIND, type Reflection } from './model.ts';

let lastId = 0;

function reflection(kind: number, name: string, fields: Partial<Reflection> = {}): Reflection {
  lastId += 1;
  return { id: lastId, kind, name, flags: {}, ...fields };
}

function property(name: string, value: string): Reflection {
  return reflection(KIND.property, name, { type: { type: 'literal', value } });
}

/** The contents of the page of a module with these exports. */
function pageOf(...children: readonly Reflection[]): string {
  const project = reflection(1, 'project', {
    children: [reflection(KIND.module, 'src/module', { children })],
  });
  return JSON.stringify(arrange(project, () => 'entry'));
}

describe('arrange', () => {
  it('names a page as an import names its entry', () => {
    expect(pageOf()).toContain('"name":"entry"');
  });

  it('leaves the code and the cause of an error', () => {
    const error = reflection(KIND.class, 'GoneError', {
      sources: [{ fileName: 'src/errors.d.ts' }],
      comment: { summary: [{ kind: 'text', text: 'It is gone.' }] },
      extendedTypes: ['Error'],
      children: [property('code', 'GONE'), property('name', 'GoneError'), reflection(KIND.method, 'because')],
    });
    const page = pageOf(error);
    expect(page).toContain('Code `GONE`. ');
    expect(page).toContain('It is gone.');
    expect(page).not.toMatch(/because|extendedTypes|"name":"name"/);
  });

  it('names a type of another one instead of spelling it out', () => {
    const point = reflection(KIND.interface, 'Point', { children: [property('x', '1'), property('y', '2')] });
    const spelledOut = { type: 'reflection', declaration: { ...point, id: 1000 } };
    const holder = reflection(KIND.variable, 'origin', { type: spelledOut });
    const page = pageOf(point, holder);
    expect(page).toContain(
      `{"type":"reference","target":${point.id},"name":"Point","packageName":"tabserve"}`,
    );
    expect(page).not.toContain('1000');
  });

  it('spells a type out that two names fit', () => {
    const fields = [property('x', '1')];
    const one = reflection(KIND.interface, 'One', { children: fields });
    const other = reflection(KIND.interface, 'Other', { children: fields });
    const spelledOut = { type: 'reflection', declaration: { ...one, id: 1000 } };
    expect(pageOf(one, other, reflection(KIND.variable, 'value', { type: spelledOut }))).toContain('1000');
  });

  it('names a branded ID, but not in its own declaration', () => {
    const brand = { type: 'reflection', declaration: { children: [property('__brand', 'TicketId')] } };
    const branded = { type: 'intersection', types: [{ type: 'intrinsic', name: 'string' }, brand] };
    const alias = reflection(KIND.typeAlias, 'TicketId', { type: branded });
    const page = pageOf(alias, reflection(KIND.variable, 'first', { type: branded }));
    expect(page.match(/"__brand"/g)).toHaveLength(1);
    expect(page).toContain(`"target":${alias.id},"name":"TicketId"`);
  });

  it('shows inherited methods at the base alone', () => {
    const flush = reflection(KIND.method, 'flush');
    const base = reflection(KIND.interface, 'Base', { children: [flush] });
    const inherited = reflection(KIND.method, 'flush', { inheritedFrom: { target: flush.id } });
    expect(pageOf(base, reflection(KIND.interface, 'Derived', { children: [inherited] }))).not.toContain(
      `"id":${inherited.id}`,
    );
  });
});
