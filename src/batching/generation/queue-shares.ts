/** A limit that keeps a request out of the queue. */
export interface QueueLimit {
  readonly numQueuedRequests: number;
  readonly maxQueuedRequests: number;
  /** Places that must come free before the request fits. */
  readonly numMissing: number;
}

/** Callers that have nothing waiting find a place in one part in so many beyond the limits. */
const NEWCOMER_PART = 16;

class Member {
  readonly members = new Map<string, Member>();
  count = 0;
}

/**
 * How many requests wait in each group, and the share of the queue that each group may take. Groups of one level have equal shares
 * of their parent's share. A group that makes up names for itself gains nothing outside its parent.
 */
export class QueueShares {
  readonly #root = new Member();

  add(path: readonly string[]): void {
    let member = this.#root;
    member.count += 1;
    for (const name of path) {
      const next = member.members.get(name) ?? new Member();
      next.count += 1;
      member.members.set(name, next);
      member = next;
    }
  }

  remove(path: readonly string[]): void {
    let member = this.#root;
    member.count -= 1;
    for (const name of path) {
      const next = member.members.get(name);
      if (!next) return;
      next.count -= 1;
      if (next.count === 0) member.members.delete(name);
      member = next;
    }
  }

  /**
   * The limit that keeps some requests of one group out; undefined where there is room for all of them. The first request of a
   * client always has a place. The first request of a caller within a client has one until the client's share and the queue are
   * a sixteenth over their limits.
   *
   * @param path Names of the groups, outermost first: the client, then the callers within it.
   */
  limitFor(path: readonly string[], maxQueuedRequests: number, numRequests: number): QueueLimit | undefined {
    const [client = '', ...callers] = path;
    const { members, count } = this.#root;
    const own = members.get(client);
    if (numRequests === 1 && !own && members.size > 0) return undefined;
    const share = shareOf(maxQueuedRequests, members, client);
    const isNewcomer = numRequests === 1 && own !== undefined && !hasWaiting(own, callers);
    const isRoomBeyond = count < withSpare(maxQueuedRequests) && (own?.count ?? 0) < withSpare(share);
    if (isNewcomer && isRoomBeyond) return undefined;
    return (
      limitOf(count, maxQueuedRequests, numRequests) ??
      limitOf(own?.count ?? 0, share, numRequests) ??
      limitWithin(own, callers, share, numRequests)
    );
  }
}

function limitOf(count: number, max: number, numRequests: number): QueueLimit | undefined {
  const numMissing = count + numRequests - max;
  return numMissing > 0 ? { numQueuedRequests: count, maxQueuedRequests: max, numMissing } : undefined;
}

function limitWithin(
  client: Member | undefined,
  callers: readonly string[],
  clientShare: number,
  numRequests: number,
): QueueLimit | undefined {
  let member = client;
  let share = clientShare;
  for (const name of callers) {
    if (!member) return undefined;
    share = shareOf(share, member.members, name);
    member = member.members.get(name);
    const limit = limitOf(member?.count ?? 0, share, numRequests);
    if (limit) return limit;
  }
  return undefined;
}

function withSpare(limit: number): number {
  return limit + Math.ceil(limit / NEWCOMER_PART);
}

/** What one of the members may take once `name` is among them. */
function shareOf(total: number, members: ReadonlyMap<string, Member>, name: string): number {
  return Math.ceil(total / (members.has(name) ? members.size : members.size + 1));
}

function hasWaiting(client: Member, callers: readonly string[]): boolean {
  let member: Member | undefined = client;
  for (const name of callers) member = member?.members.get(name);
  return member !== undefined;
}
