import { Round } from './round.ts';

/** A request and where it waits. */
export interface TurnPlace<Request extends object> {
  readonly group: Group<Request>;
  readonly request: Request;
}

/** A client, a caller within it, or one turn of several requests. It takes turns with its siblings. */
class Group<Request extends object> {
  readonly name: string;
  readonly parent: Group<Request> | undefined;
  readonly round = new Round<Group<Request> | Request>();
  /** Holds a group exactly while something waits in it. */
  readonly groups = new Map<string, Group<Request>>();

  constructor(name: string, parent?: Group<Request>) {
    this.name = name;
    this.parent = parent;
  }

  /** The group of this name within this one. */
  open(name: string): Group<Request> {
    const known = this.groups.get(name);
    if (known) return known;
    const group = new Group<Request>(name, this);
    this.round.add(group);
    this.groups.set(name, group);
    return group;
  }

  close(): void {
    this.parent?.groups.delete(this.name);
    this.parent?.round.remove(this);
  }
}

/**
 * Waiting requests in nested groups, round-robin at each level: over clients, over the callers of a client, over the turns
 * of a caller. Requests of one turn are first come, first served. Every operation costs O(depth), however many wait.
 */
export class TurnTree<Request extends object> {
  readonly #root = new Group<Request>('');

  get isEmpty(): boolean {
    return this.#root.round.size === 0;
  }

  /** The next in turn. */
  get first(): Request | undefined {
    let { first } = this.#root.round;
    while (first instanceof Group) ({ first } = first.round);
    return first;
  }

  /** @param path Names of the groups, outermost first; at least one. */
  add(path: readonly string[], request: Request): TurnPlace<Request> {
    let group = this.#root;
    for (const name of path) group = group.open(name);
    group.round.add(request);
    return { group, request };
  }

  /** Each group whose turn it is goes to the end of its round. */
  passTurn(): void {
    let { round } = this.#root;
    for (let { first } = round; first instanceof Group; { first } = round) {
      round.rotate();
      ({ round } = first);
    }
  }

  remove({ group, request }: TurnPlace<Request>): void {
    group.round.remove(request);
    for (let left: Group<Request> | undefined = group; left?.round.size === 0; left = left.parent)
      left.close();
  }
}
