import { LinkedList, type ListNode } from './linked-list.ts';

/** One request in the round of its group. */
interface Leaf<Request> {
  readonly request: Request;
}

type Member<Request> = Group<Request> | Leaf<Request>;

/** Where a request waits. */
export interface TurnPlace<Request> {
  readonly group: Group<Request>;
  readonly node: ListNode<Member<Request>>;
}

/** What takes turns with its siblings: a client, a caller within it, or one turn of several requests. */
class Group<Request> {
  readonly name: string;
  readonly parent: Group<Request> | undefined;
  /** Whose turn is next stands first. */
  readonly round = new LinkedList<Member<Request>>();
  /** Holds a group exactly while something waits in it. */
  readonly groups = new Map<string, Group<Request>>();
  inParent: ListNode<Member<Request>> | undefined;

  constructor(name: string, parent?: Group<Request>) {
    this.name = name;
    this.parent = parent;
  }

  /** The group of this name within this one. */
  open(name: string): Group<Request> {
    const known = this.groups.get(name);
    if (known) return known;
    const group = new Group<Request>(name, this);
    group.inParent = this.round.append(group);
    this.groups.set(name, group);
    return group;
  }

  close(): void {
    if (!this.parent || !this.inParent) return;
    this.parent.groups.delete(this.name);
    this.parent.round.remove(this.inParent);
  }
}

/**
 * Waiting requests in nested groups, round-robin at each level: over clients, over the callers of a client, over the turns
 * of a caller. Requests of one turn are first come, first served. Every operation costs O(depth), however many wait.
 */
export class TurnTree<Request> {
  readonly #root = new Group<Request>('');

  get isEmpty(): boolean {
    return this.#root.round.length === 0;
  }

  /** The next in turn. */
  get first(): Request | undefined {
    let member = this.#root.round.first?.value;
    while (member instanceof Group) member = member.round.first?.value;
    return member?.request;
  }

  /** @param path Names of the groups, outermost first; at least one. */
  add(path: readonly string[], request: Request): TurnPlace<Request> {
    let group = this.#root;
    for (const name of path) group = group.open(name);
    return { group, node: group.round.append({ request }) };
  }

  /** Each group whose turn it is goes to the end of its round. */
  passTurn(): void {
    let group: Member<Request> | undefined = this.#root;
    while (group instanceof Group) {
      const first: ListNode<Member<Request>> | undefined = group.round.first;
      if (first?.value instanceof Group) group.round.moveToEnd(first);
      group = first?.value;
    }
  }

  remove({ group, node }: TurnPlace<Request>): void {
    group.round.remove(node);
    for (let left: Group<Request> | undefined = group; left?.round.length === 0; left = left.parent)
      left.close();
  }
}
