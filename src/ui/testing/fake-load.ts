import { updatePolicy } from '../../batching/generation/update-policy.ts';
import {
  DEFAULT_POLICY,
  TEXT_GENERATOR,
  type BatchingPolicy,
  type PolicyName,
  type PolicyOverride,
  type TabserveClient,
} from '../../client/index.ts';
import { createLoadTarget } from '../panels/load/load-target.ts';
import type { Trial } from '../panels/load/summarize.ts';
import type { TrialRecorder } from '../panels/trials/trial-slots.ts';

/** Finishes each request at once, with one token; remembers its calls. Its one override is lost at `lose()`. */
export function createFakeServe(policyName: PolicyName) {
  let policy: BatchingPolicy = { ...DEFAULT_POLICY, policy: policyName };
  const base = policy;
  const end = new AbortController();
  /** Policies of the override, and the users' own at its release. */
  const configured: BatchingPolicy[] = [];
  const override: Pick<PolicyOverride, 'signal' | 'change' | 'release'> = {
    signal: end.signal,
    change: (knobs) => {
      policy = updatePolicy(policy, knobs);
      configured.push(policy);
      return Promise.resolve(policy);
    },
    release: () => {
      policy = base;
      configured.push(policy);
      return Promise.resolve();
    },
  };
  const prompts: string[] = [];
  const result = {
    tokenIds: [1],
    finishReason: 'stop',
    usage: { numPromptTokens: 1 },
    timings: { queueWaitMs: 1, ttftMs: 2, tpotMs: 0, e2eMs: 3 },
  };
  const fake = {
    status: () => ({ policy }),
    overridePolicy: () => Promise.resolve(override),
    getHandle: () => ({
      remote: (prompt: string) => {
        prompts.push(prompt);
        return { requestId: `request ${prompts.length}`, result: () => Promise.resolve(result) };
      },
    }),
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a class with private fields has no other stand-in
  const serve = fake as unknown as TabserveClient;
  const target = createLoadTarget(serve, TEXT_GENERATOR);
  return { serve, target, configured, prompts, lose: (reason: Error) => end.abort(reason) };
}

/** Knows of no slots. */
export const NO_RECORDER: TrialRecorder = {
  begin: () => {},
  add: () => {},
  barsOf: () => Promise.resolve([]),
};

export function createTrial(label: string, change: Partial<Trial['summary']> = {}): Trial {
  return {
    label,
    policy: DEFAULT_POLICY,
    trace: { requests: [] },
    run: { outcomes: [], durationMs: 1000 },
    summary: {
      numSent: 10,
      numFinished: 10,
      numRejected: 0,
      numFailed: 0,
      numCancelled: 0,
      numPromptTokens: 30,
      numOutputTokens: 100,
      durationMs: 1000,
      tokensPerSecond: 100,
      requestsPerSecond: 10,
      goodputPerSecond: 10,
      ttftMs: undefined,
      tpotMs: undefined,
      queueWaitMs: undefined,
      e2eMs: undefined,
      ...change,
    },
  };
}
