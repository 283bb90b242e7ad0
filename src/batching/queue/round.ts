/**
 * Members that take turns: the first can be removed or go to the end, and any other can be removed, all in constant time.
 * A `Set` alone scans the holes that removals leave at its front; the iterator kept here passes each hole once.
 */
export class Round<Member extends object> {
  readonly #members = new Set<Member>();
  /** Has passed `#first`, and no other member. */
  #upcoming = this.#members.values();
  #first: Member | undefined;
  /** Since `#upcoming` was made. */
  #numRemoved = 0;

  get size(): number {
    return this.#members.size;
  }

  get first(): Member | undefined {
    // An iterator that has reached its end never continues, so never advance it past the last member.
    if (!this.#first && this.size > 0) this.#first = this.#upcoming.next().value;
    return this.#first;
  }

  /** Appends a new member. */
  add(member: Member): void {
    this.#members.add(member);
  }

  remove(member: Member): void {
    this.#members.delete(member);
    if (member === this.#first) this.#first = undefined;
    this.#numRemoved += 1;
    if (this.#numRemoved > this.size) this.#renewIterator();
  }

  /** The first goes to the end. */
  rotate(): void {
    const { first } = this;
    if (!first) return;
    this.remove(first);
    this.add(first);
  }

  /**
   * An iterator that isn't advanced keeps each old table of its set in memory, with all removed members. Renewing it after as
   * many removals as members costs constant time per removal.
   */
  #renewIterator(): void {
    this.#upcoming = this.#members.values();
    this.#first = undefined;
    this.#numRemoved = 0;
  }
}
