/** A place in a list; whoever holds it can remove the value in O(1). */
export interface ListNode<Value> {
  readonly value: Value;
  previous: ListNode<Value> | undefined;
  next: ListNode<Value> | undefined;
}

/** Doubly linked: a `Map` used as a queue scans the holes that deletions leave at its front. */
export class LinkedList<Value> {
  #first: ListNode<Value> | undefined;
  #last: ListNode<Value> | undefined;
  #length = 0;

  get first(): ListNode<Value> | undefined {
    return this.#first;
  }

  get length(): number {
    return this.#length;
  }

  append(value: Value): ListNode<Value> {
    const node: ListNode<Value> = { value, previous: undefined, next: undefined };
    this.#link(node);
    return node;
  }

  /** `node` is in this list: it came from `append` and was not removed since. */
  remove(node: ListNode<Value>): void {
    if (node.previous) node.previous.next = node.next;
    else this.#first = node.next;
    if (node.next) node.next.previous = node.previous;
    else this.#last = node.previous;
    this.#length -= 1;
  }

  moveToEnd(node: ListNode<Value>): void {
    this.remove(node);
    this.#link(node);
  }

  #link(node: ListNode<Value>): void {
    node.previous = this.#last;
    node.next = undefined;
    if (this.#last) this.#last.next = node;
    else this.#first = node;
    this.#last = node;
    this.#length += 1;
  }
}
