/** The part of `navigator.locks` in use. */
export type Locks = Pick<LockManager, 'request' | 'query'>;
