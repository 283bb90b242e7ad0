import type { HubRequest, HubServer } from './hub-server/hub-server.ts';
import {
  expectReferenceTokens,
  loadModel,
  storedModels,
  test,
  TWIN,
  twinFiles,
  WEIGHTS,
} from './support/hub-test.ts';
import { SeededRandom } from './support/seeded-random.ts';
import { ANY_BACKEND, expect } from './support/test.ts';
import type { Page } from 'playwright/test';

interface Kill {
  /** Bytes of the weights that the hub has sent by then. */
  readonly at: number;
  readonly how: 'connection cut' | 'tab closed' | '503';
}

interface ByteRange {
  readonly begin: number;
  readonly end: number;
}

const NUM_KILLS = 10;
const NUM_503 = 2;
const WAYS: readonly Kill['how'][] = ['connection cut', 'tab closed', '503'];
const SIZE = twinFiles().get(WEIGHTS)?.length ?? 0;
