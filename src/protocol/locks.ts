/** The part of `navigator.locks` that is used here. */
export type Locks = Pick<LockManager, 'request' | 'query'>;
