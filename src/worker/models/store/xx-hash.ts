// A module of its own, so that a bundler leaves out the library's other digests.
export { createXXHash64 } from 'hash-wasm';
