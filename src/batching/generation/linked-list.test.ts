import { describe, expect, it } from 'vitest';
import { LinkedList } from './linked-list.ts';

function createList(...values: readonly string[]) {
  const list = new LinkedList<string>();
  const nodes = values.map((value) => list.append(value));
  const forwards = (): string[] => {
    const seen: string[] = [];
    for (let node = list.first; node; node = node.next) seen.push(node.value);
    return seen;
  };
  const backwards = (): string[] => {
    const seen: string[] = [];
    let last = list.first;
    while (last?.next) last = last.next;
    for (let node = last; node; node = node.previous) seen.push(node.value);
    return seen;
  };
  return { list, nodes, forwards, backwards };
}

describe('LinkedList', () => {
  it('keeps values in the order of appending', () => {
    const { list, forwards } = createList('a', 'b', 'c');
    expect(forwards()).toEqual(['a', 'b', 'c']);
    expect(list.length).toBe(3);
  });

  it.each([
    ['the first', 0, ['b', 'c']],
    ['one in the middle', 1, ['a', 'c']],
    ['the last', 2, ['a', 'b']],
  ])('removes %s and stays linked both ways', (_, index, left) => {
    const { list, nodes, forwards, backwards } = createList('a', 'b', 'c');
    list.remove(nodes[index] ?? list.append('missing'));
    expect(forwards()).toEqual(left);
    expect(backwards()).toEqual(left.toReversed());
    expect(list.length).toBe(2);
  });

  it('is empty, and can be filled again, after its only value was removed', () => {
    const { list, nodes, forwards } = createList('a');
    for (const node of nodes) list.remove(node);
    expect(list.first).toBeUndefined();
    list.append('b');
    expect(forwards()).toEqual(['b']);
  });

  it('moves a value to the end and keeps its node', () => {
    const { list, nodes, forwards, backwards } = createList('a', 'b', 'c');
    for (const node of nodes.slice(0, 2)) list.moveToEnd(node);
    expect(forwards()).toEqual(['c', 'a', 'b']);
    expect(backwards()).toEqual(['b', 'a', 'c']);
    expect(nodes[0]?.next).toBe(nodes[1]);
  });
});
