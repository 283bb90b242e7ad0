/** A limit that keeps a request out of the queue. */
export interface QueueLimit {
  readonly numQueuedRequests: number;
  readonly maxQueuedRequests: number;
  /** Places that must come free before the request fits. */
  readonly numMissing: number;
}

/** The queue takes newcomers until it is this part of its limits over them. */
const NEWCOMER_PART = 16;

class Group {
  readonly groups = new Map<string, Group>();
  count = 0;
}

/** One group of a path: its requests in the queue, and how many there may be. */
interface Level {
  readonly count: number;
  readonly share: number;
}

/**
 * Counts the waiting requests of each group, and limits each group to its share of the queue. Groups of one level have equal shares
 * of their parent's share. A group that makes up names for itself gains nothing outside its parent.
 */
export class QueueShares {
  readonly #root = new Group();

  /** @param change 1 for a request that arrives, -1 for one that leaves. */
  count(path: readonly string[], change: 1 | -1): void {
    let group = this.#root;
    group.count += change;
    for (const name of path) {
      const next = group.groups.get(name) ?? new Group();
      next.count += change;
      if (next.count > 0) group.groups.set(name, next);
      else group.groups.delete(name);
      group = next;
    }
  }

  /**
   * The limit that the requests of one group would exceed; undefined if there is room for all of them. The first request of a
   * client always has a place. The first request of a caller within a client has one until the client's share and the queue are
   * a sixteenth over their limits.
   *
   * @param path Names of the groups, outermost first: the client, then the callers within it.
   */
  limitFor(path: readonly string[], maxQueuedRequests: number, numRequests: number): QueueLimit | undefined {
    const levels = this.#levelsOf(path, maxQueuedRequests);
    const [queue, client] = levels;
    const hasNoneIn = (level: Level | undefined): boolean => numRequests === 1 && level?.count === 0;
    if (hasNoneIn(client) && queue.count > 0) return undefined;
    const isRoomBeyond = [queue, client].every((level) => !level || level.count < withSpare(level.share));
    if (hasNoneIn(levels.at(-1)) && !hasNoneIn(client) && isRoomBeyond) return undefined;
    const full = levels.find(({ count, share }) => count + numRequests > share);
    return (
      full && {
        numQueuedRequests: full.count,
        maxQueuedRequests: full.share,
        numMissing: full.count + numRequests - full.share,
      }
    );
  }

  /** The whole queue, then each group of the path. */
  #levelsOf(path: readonly string[], maxQueuedRequests: number): readonly [Level, ...Level[]] {
    let group: Group | undefined = this.#root;
    let share = maxQueuedRequests;
    const levels: Level[] = [];
    for (const name of path) {
      const numGroups: number = group?.groups.size ?? 0;
      group = group?.groups.get(name);
      share = Math.ceil(share / (group ? numGroups : numGroups + 1));
      levels.push({ count: group?.count ?? 0, share });
    }
    return [{ count: this.#root.count, share: maxQueuedRequests }, ...levels];
  }
}

function withSpare(limit: number): number {
  return limit + Math.ceil(limit / NEWCOMER_PART);
}
